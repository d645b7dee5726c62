import { RetryableError } from '../../../core/errors/index.ts'
import { nameToBigInt } from '../../../core/antelope/index.ts'
import { nextKeyOf } from '../../../core/chain-node/index.ts'
import type { NodeClient } from '../../../core/chain-node/index.ts'

/** Rows, or scopes, of an answer. */
const PAGE = 1_000
/** The same when the head moves faster than whole pages are answered. */
const SMALL_PAGE = 100
/** Attempts of a request while the head changes. */
const TRIES = 8
/** Attempts of a small one. */
const SMALL_TRIES = 60

/** A block that an answer is of. */
export interface AnswerBlock {
  readonly num: number
  /** 64 hexadecimal digits. */
  readonly id: string
}

/** An answer with the blocks of its state: one, unless its parts were requested one after the other. */
export interface Stable<T> {
  readonly value: T
  readonly blocks: readonly AnswerBlock[]
}

interface Head extends AnswerBlock {
  readonly isIrreversible: boolean
}

/** The rows of a table in one scope. */
interface ScopedTable {
  readonly contract: string
  readonly table: string
  readonly scope: string
}

/** A page of rows as the chain packs them. */
export interface RowPage {
  readonly rows: readonly Uint8Array[]
  /** Where the next page begins; null after the last. */
  readonly next: string | null
}

/** A page of the scopes of a table. */
export interface ScopePage {
  readonly scopes: readonly string[]
  /** Value of the first scope of the next page; null after the last. */
  readonly next: bigint | null
}

/**
 * Requests tables from a node, with the block of each answer: the head before and after the request is the same, so the
 * answer is of that head. That identifies rows of blocks that a fork removes. An answer during which the head moved may
 * be of a block that neither of the two heads has before it, so it is not used.
 */
export class StableNode {
  readonly #client: NodeClient
  /** No answer of a block before this one is taken. */
  readonly #since: number
  #head: Head | null = null

  constructor(client: NodeClient, since: number) {
    this.#client = client
    this.#since = since
  }

  /**
   * A page of the rows of each of some scopes.
   *
   * @throws RetryableError `CHAIN_UNREACHABLE`, also when the head moves faster than the node answers.
   */
  async rows(
    contract: string,
    table: string,
    scopes: readonly string[],
    from: string,
  ): Promise<Stable<readonly RowPage[]>> {
    const whole = await this.#stable(
      () => Promise.all(scopes.map((scope) => this.#rows({ contract, table, scope }, from, PAGE))),
      TRIES,
    )
    if (whole !== null) return whole
    const parts: Stable<RowPage>[] = []
    for (const scope of scopes)
      parts.push(await this.#small(() => this.#rows({ contract, table, scope }, from, SMALL_PAGE)))
    return { value: parts.map(({ value }) => value), blocks: parts.flatMap(({ blocks }) => blocks) }
  }

  async #rows({ contract, table, scope }: ScopedTable, from: string, limit: number): Promise<RowPage> {
    const path = '/v1/chain/get_table_rows'
    const answer = await this.#client.ask(path, {
      code: contract,
      table,
      scope: scopeText(scope),
      json: false,
      limit,
      lower_bound: from,
    })
    const { rows } = answer
    if (!Array.isArray(rows) || rows.some((row) => typeof row !== 'string'))
      throw unlike(this.#client.label, path)
    const readInfo = () => this.#client.ask('/v1/chain/get_info', {})
    const next = await nextKeyOf(answer, from, this.#client.label, readInfo)
    return { rows: (rows as string[]).map((row) => Buffer.from(row, 'hex')), next }
  }

  /**
   * A page of the scopes of a table.
   *
   * @throws RetryableError as `rows`.
   */
  async scopes(contract: string, table: string, from: bigint): Promise<Stable<ScopePage>> {
    const whole = await this.#stable(() => this.#scopes(contract, table, from, PAGE), TRIES)
    return whole ?? (await this.#small(() => this.#scopes(contract, table, from, SMALL_PAGE)))
  }

  async #scopes(contract: string, table: string, from: bigint, limit: number): Promise<ScopePage> {
    const path = '/v1/chain/get_table_by_scope'
    const body = { code: contract, table, limit, lower_bound: from.toString() }
    const { rows, more } = await this.#client.ask(path, body)
    if (!Array.isArray(rows) || typeof more !== 'string') throw unlike(this.#client.label, path)
    const next = more === '' ? null : nameToBigInt(more)
    if (next !== null && next <= from) throw unlike(this.#client.label, path)
    const found = (rows as { scope: string; table: string }[]).filter((row) => row.table === table)
    return { scopes: found.map(({ scope }) => scope), next }
  }

  /** The packed ABI of an account and whether it has code; null when the chain has no such account. */
  async account(name: string): Promise<{ abi: Uint8Array; hasCode: boolean } | null> {
    const answer = await this.#client.askAccount('/v1/chain/get_raw_abi', { account_name: name })
    if (answer === null) return null
    const { abi, code_hash: hash } = answer
    return {
      abi: typeof abi === 'string' ? Buffer.from(abi, 'base64') : new Uint8Array(0),
      hasCode: typeof hash === 'string' && /[^0]/.test(hash),
    }
  }

  /** Null when the head moved during each request. */
  async #stable<T>(ask: () => Promise<T>, tries: number): Promise<Stable<T> | null> {
    let before = this.#head ?? (await this.#askHead())
    for (let attempt = 1; attempt <= tries; attempt++) {
      const value = await ask()
      const after = await this.#askHead()
      this.#head = after
      // A node that shows irreversible blocks only has no others.
      if (after.id === before.id || (before.isIrreversible && after.isIrreversible))
        return { value, blocks: [after] }
      before = after
    }
    return null
  }

  async #small<T>(ask: () => Promise<T>): Promise<Stable<T>> {
    const answer = await this.#stable(ask, SMALL_TRIES)
    if (answer !== null) return answer
    throw new RetryableError(
      'CHAIN_UNREACHABLE',
      `the head of the chain node ${this.#client.label} changed during each of ${SMALL_TRIES} requests: a node that answers faster, or one with read-mode = irreversible, is needed`,
    )
  }

  async #askHead(): Promise<Head> {
    const info = await this.#client.ask('/v1/chain/get_info', {})
    const { head_block_num: num, head_block_id: id, last_irreversible_block_num: irreversible } = info
    if (typeof num !== 'number' || typeof id !== 'string' || !/^[0-9a-f]{64}$/.test(id))
      throw unlike(this.#client.label, 'get_info')
    if (num < this.#since)
      throw new RetryableError(
        'CHAIN_UNREACHABLE',
        `the chain node ${this.#client.label} is at block ${num}, before block ${this.#since}, where the import started`,
      )
    return { num, id, isIrreversible: typeof irreversible === 'number' && irreversible >= num }
  }
}

/** A node reads digits as a number, so a name of digits is sent as its value. */
function scopeText(scope: string): string {
  return /^[1-5]+$/.test(scope) ? nameToBigInt(scope).toString() : scope
}

/** Value of a scope: scopes come in its order. */
export function scopeValue(scope: string): bigint {
  return nameToBigInt(scope)
}

function unlike(node: string, path: string): RetryableError {
  return new RetryableError('CHAIN_UNREACHABLE', `${node} does not answer ${path} like a chain node`)
}
