import { LRUCache } from 'lru-cache'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import type { Queryable } from '../access/index.ts'
import type { BlockRef, Position } from './position.ts'
import type { AbiSeeds, Standing } from './seeds.ts'

/** The ABI of an account in force at a block. */
export interface AbiVersion {
  readonly account: string
  /** Block that set the ABI, or the first indexed block if the ABI may have been set before. */
  readonly block: number
  /**
   * `at`: the ABI was set in `block`. `at_or_before`: the ABI was in force at `block`, and was set in `block`
   * or earlier.
   */
  readonly set: 'at' | 'at_or_before'
  /** Hash of the packed ABI. */
  readonly digest: string
  /** Whether the account removed its ABI. */
  readonly isEmpty: boolean
}

/** One row of chain.abis, with the size of the ABI instead of the ABI itself. */
interface VersionRow {
  readonly block: number
  readonly digest: string
  readonly bytes: number
}

const VERSIONS = `SELECT block_num AS block, encode(sha256(abi), 'hex') AS digest, octet_length(abi) AS bytes
  FROM chain.abis WHERE account = $1 ORDER BY block_num`
/**
 * Query of two booleans: whether no indexed block has set an ABI of the account; whether each of the given
 * blocks is irreversible or on the branch of a reader.
 */
const UNTOUCHED = `SELECT
    NOT EXISTS (SELECT FROM chain.abis WHERE account = $1) AS "isUntouched",
    NOT EXISTS (SELECT FROM unnest($2::integer[], $3::text[]) AS seen (num, id)
      WHERE NOT EXISTS (SELECT FROM chain.reversible_blocks b
          WHERE b.block_num = seen.num AND b.block_id = decode(seen.id, 'hex'))
        AND NOT EXISTS (SELECT FROM chain.reversible_blocks b GROUP BY b.reader HAVING min(b.block_num) > seen.num)
    ) AS "isOnBranch"`
const CONTENT = 'SELECT abi FROM chain.abis WHERE account = $1 AND block_num = $2'

const MAX_VERSIONS_BYTES = 16 * 2 ** 20
const MAX_PACKED_BYTES = 32 * 2 ** 20
const MAX_COMPILED_BYTES = 64 * 2 ** 20
/** Estimated memory of a compiled ABI, as a multiple of its packed size. */
const COMPILED_FACTOR = 20

/** The ABI versions of an account that were stored when `head` was the id of the head block. */
interface KnownVersions {
  readonly head: string
  readonly rows: readonly VersionRow[]
}

/**
 * Maximum number of older ABIs that are tried if the current ABI does not fit a row; the reader has the same
 * limit.
 */
const OLDER_VERSIONS = 4

/** Estimated memory of a cache entry without its value, bytes. */
const ENTRY_BYTES = 200

/** The ABIs of all accounts at every indexed block. */
export class AbiStore {
  readonly #database: Queryable
  readonly #seeds: AbiSeeds
  readonly #versions = new LRUCache<string, KnownVersions>({ maxSize: MAX_VERSIONS_BYTES })
  readonly #contents = new LRUCache<string, Buffer>({ maxSize: MAX_PACKED_BYTES })
  readonly #compiledAbis = new LRUCache<string, CompiledAbi>({ maxSize: MAX_COMPILED_BYTES })

  constructor(database: Queryable, seeds: AbiSeeds) {
    this.#database = database
    this.#seeds = seeds
  }

  /**
   * The ABI in force at a block; null if there was none. An ABI that was set before the first indexed block is read
   * from the chain node.
   * @throws Refusal 503 if the chain node cannot be read.
   */
  async at(account: string, block: number, position: Position): Promise<AbiVersion | null> {
    const rows = await this.#rowsOf(account, position)
    const row = rows.findLast((each) => each.block <= block)
    if (row) {
      const set = row.block === position.startBlock && position.startBlock > 1 ? 'at_or_before' : 'at'
      return { account, block: row.block, set, digest: row.digest, isEmpty: row.bytes === 0 }
    }
    const { wholeSince } = position
    if (wholeSince <= 1 || block < wholeSince) return null
    const digest = await this.#seeds.digestOf(account, position, (seen) => this.#standing(account, seen))
    if (digest === null) return null
    return { account, block: wholeSince, set: 'at_or_before', digest, isEmpty: false }
  }

  /**
   * The ABIs that preceded the given ABI of an account: at most OLDER_VERSIONS, newest first. Equal ABIs are listed
   * once, and empty ABIs, by which an account removes its ABI, are left out.
   */
  async before({ account, block, digest }: AbiVersion, position: Position): Promise<AbiVersion[]> {
    const rows = await this.#rowsOf(account, position)
    const found = new Map<string, AbiVersion>()
    for (const row of rows.toReversed()) {
      const isOlder = row.block < block && row.bytes > 0 && row.digest !== digest
      if (!isOlder || found.has(row.digest)) continue
      found.set(row.digest, { account, block: row.block, set: 'at', digest: row.digest, isEmpty: false })
      if (found.size === OLDER_VERSIONS) break
    }
    return [...found.values()]
  }

  /** The packed form of an ABI; null if a fork has undone the block that set the ABI. */
  async packed(version: AbiVersion): Promise<Buffer | null> {
    const key = keyOf(version)
    const cached =
      this.#contents.get(key) ?? this.#seeds.packed(version.account, version.block, version.digest)
    if (cached) return cached
    const { rows } = await this.#database.query<{ abi: Buffer }>({
      name: 'abi-content',
      text: CONTENT,
      values: [version.account, version.block],
    })
    const abi = rows[0]?.abi
    if (!abi) return null
    this.#contents.set(key, abi, { size: abi.length + ENTRY_BYTES })
    return abi
  }

  /**
   * Compiled decoders of an ABI; null if a fork has undone the block that set the ABI.
   * @throws DecodeError, AbiError.
   */
  async compiled(version: AbiVersion): Promise<CompiledAbi | null> {
    const key = keyOf(version)
    const cached = this.#compiledAbis.get(key)
    if (cached) return cached
    const packed = await this.packed(version)
    if (!packed) return null
    const compiled = compileAbi(parsePackedAbi(packed), 'lossless')
    this.#compiledAbis.set(key, compiled, { size: packed.length * COMPILED_FACTOR + ENTRY_BYTES })
    return compiled
  }

  async #standing(account: string, seen: readonly BlockRef[]): Promise<Standing> {
    const { rows } = await this.#database.query<Standing>({
      name: 'abi-untouched',
      text: UNTOUCHED,
      values: [account, seen.map(({ num }) => num), seen.map(({ id }) => id)],
    })
    return rows[0] ?? { isUntouched: false, isOnBranch: false }
  }

  /**
   * ABI versions of an account. The cached versions are valid for one head block only: a new block may set an
   * ABI, and a fork may undo one.
   */
  async #rowsOf(account: string, { head }: Position): Promise<readonly VersionRow[]> {
    const cached = this.#versions.get(account)
    if (cached?.head === head.id) return cached.rows
    const { rows } = await this.#database.query<VersionRow>({
      name: 'abi-versions',
      text: VERSIONS,
      values: [account],
    })
    this.#versions.set(account, { head: head.id, rows }, { size: ENTRY_BYTES + 150 * rows.length })
    return rows
  }
}

/** Key under which the content of an ABI version is cached. */
export function keyOf({ account, block, digest }: AbiVersion): string {
  return `${account}/${block}/${digest}`
}
