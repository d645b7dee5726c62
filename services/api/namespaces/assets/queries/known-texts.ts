import { LRUCache } from 'lru-cache'
import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter } from '../../../endpoint/index.ts'
import { KNOWS_TEXTS, metTexts, MOST_TEXTS } from './mutable-texts.ts'

/** The digests that met filters at a block. */
interface Met {
  readonly digests: readonly string[]
  readonly blockNum: number
  /** Milliseconds since 1970, as text. */
  readonly blockTime: string
  /** Hexadecimal. */
  readonly blockId: string
}

/** The last committed block of the reader of the assets, as `r`. */
const HERE = `chain.readers r JOIN chain.sources s ON s.reader = r.name AND s.family = 'assets'`
const BLOCK = `r.block_num, r.block_time::text, encode(r.block_id, 'hex')`

type Block = readonly [num: number, time: string, id: string]

/** Time after a block, in ms, up to which what changed since is looked at; after that all texts are. */
const LATER = 60_000
const MAX_BYTES = 4 * 1024 * 1024
const DIGEST_BYTES = 60

/**
 * Which texts of mutable attributes meet filters, kept per process. A text has the same digest for ever, so that only
 * those of assets that were minted or changed after the block of the last look are looked at. Digests of which no asset
 * is left may be among the known ones, until they are too many: then all texts are looked at again.
 */
export class KnownTexts {
  readonly #kept = new LRUCache<string, Met>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ digests }, key) => key.length + digests.length * DIGEST_BYTES + 200,
  })

  clear(): void {
    this.#kept.clear()
  }

  /**
   * The digests that meet filters on mutable attributes; undefined where others are among the filters, or where the
   * assets say too many different things.
   */
  async met(
    session: Session,
    attributes: readonly AttributeFilter[],
  ): Promise<readonly string[] | undefined> {
    const key = JSON.stringify(attributes.map(({ containment }) => containment))
    const known = this.#kept.get(key)
    const met = (known && (await later(session, attributes, known))) ?? (await all(session, attributes))
    if (met?.block) {
      const [blockNum, blockTime, blockId] = met.block
      const { digests } = met
      this.#kept.set(key, { digests, blockNum, blockTime, blockId })
    }
    return met?.digests
  }
}

interface Look {
  readonly digests: readonly string[]
  readonly block: Block | undefined
}

/** All that meet the filters now. */
async function all(session: Session, attributes: readonly AttributeFilter[]): Promise<Look | undefined> {
  const bindings = new Bindings()
  const conditions = mutableConditions(attributes, bindings)
  if (conditions === undefined) return undefined
  const rows = await session.query<
    [digests: string | null, isKnown: boolean, ...(Block | [null, null, null])]
  >({
    text: `WITH ${metTexts(conditions)} SELECT (SELECT string_agg(digest::text, ',') FROM met), ${KNOWS_TEXTS}, ${BLOCK}
      FROM (SELECT) x LEFT JOIN (${HERE}) ON true`,
    values: bindings.values,
  })
  const [digests, isKnown, ...block] = rows[0]!
  if (!isKnown) return undefined
  return { digests: digests?.split(',') ?? [], block: block[0] === null ? undefined : block }
}

/**
 * Those that are known, and what assets have begun to say since; undefined when the block was undone or is long past, or
 * when they are more than are kept.
 */
async function later(
  session: Session,
  attributes: readonly AttributeFilter[],
  { digests, blockNum, blockTime, blockId }: Met,
): Promise<Look | undefined> {
  const bindings = new Bindings()
  const conditions = mutableConditions(attributes, bindings)
  if (conditions === undefined) return undefined
  const time = bindings.bind(blockTime, 'bigint')
  const id = `decode(${bindings.bind(blockId, 'text')}, 'hex')`
  const stands = `(r.block_id = ${id} OR EXISTS (SELECT FROM chain.reversible_blocks b
    WHERE b.reader = r.name AND b.block_num = ${bindings.bind(blockNum, 'integer')} AND b.block_id = ${id}))`
  const rows = await session.query<[digests: string | null, ...Block]>({
    // Not by the index of the attributes: nearly nothing is as new.
    text: `SELECT (SELECT string_agg(DISTINCT a.mutable_digest::text, ',')
        FROM (SELECT a.* FROM assets.assets a WHERE a.updated_at_time > ${time} OFFSET 0) a
        ${whereClause([...conditions, 'a.mutable_digest IS NOT NULL'])}), ${BLOCK}
      FROM ${HERE} WHERE r.block_time <= ${time} + ${LATER} AND ${stands}`,
    values: bindings.values,
  })
  const [row] = rows
  if (!row) return undefined
  const [found, ...block] = row
  if (found === null) return { digests, block }
  const more = [...new Set([...digests, ...found.split(',')])]
  return more.length > MOST_TEXTS ? undefined : { digests: more, block }
}

/** Conditions on an asset, `a`, of filters on its mutable attributes; undefined where others are among them. */
function mutableConditions(attributes: readonly AttributeFilter[], bindings: Bindings): string[] | undefined {
  const conditions = attributes.flatMap(({ family, containment }) =>
    family === 'mutable_data' && containment !== undefined
      ? [`a.mutable_data @> ${bindings.bind(containment, 'jsonb')}`]
      : [],
  )
  return conditions.length < attributes.length ? undefined : conditions
}
