import { RetryableError } from '../../../core/errors/index.ts'
import { nameToBigInt } from '../../../core/antelope/index.ts'
import { nextKeyOf } from '../../../core/chain-node/index.ts'
import type { NodeClient } from '../../../core/chain-node/index.ts'

/** Number of rows or scopes to request per page. */
const PAGE = 1_000
/**
 * Number of rows or scopes per page, after TRIES attempts to read a page of PAGE entries have failed. A node answers a
 * request for a small page faster, so the head moves less often during the request.
 */
const SMALL_PAGE = 100
/**
 * Maximum number of attempts to read a page of PAGE rows or scopes. An attempt fails if the node's head moves during
 * the request.
 */
const TRIES = 8
/** Maximum number of attempts to read a page of SMALL_PAGE rows or scopes, after the attempts with PAGE have failed. */
const SMALL_TRIES = 60

/** The block that was the node's head directly after the node answered a request. */
export interface AnswerBlock {
  readonly num: number
  /** Block id: 64 hexadecimal digits. */
  readonly id: string
}

/**
 * Result of one or several requests to the node. `blocks` has the head block of the node directly after each request:
 * one block if one request read all scopes of a page, one block for each scope if separate requests read the scopes.
 */
export interface Stable<T> {
  readonly value: T
  readonly blocks: readonly AnswerBlock[]
}

interface Head extends AnswerBlock {
  readonly isIrreversible: boolean
}

interface ScopedTable {
  readonly contract: string
  readonly table: string
  readonly scope: string
}

/** A page of packed rows of a contract table. */
export interface RowPage {
  readonly rows: readonly Uint8Array[]
  /** Key at which the next page begins; null after the last page. */
  readonly next: string | null
}

export interface ScopePage {
  readonly scopes: readonly string[]
  /** First scope of the next page as an integer; null after the last page. */
  readonly next: bigint | null
}

/**
 * Reads contract tables from a chain node, and returns with each response the block whose state the response shows.
 *
 * To find this block, the node's head is read before and after each request. If both heads are the same block, the
 * response shows the state of this block. Otherwise the request is repeated: the response may show the state of a block
 * that was the head only for a moment and that a fork has removed.
 *
 * If a fork removes the returned block later, the import reads the rows again.
 */
export class StableNode {
  readonly #client: NodeClient
  /** Block at which the import started. A node whose head is before this block is refused. */
  readonly #since: number
  #head: Head | null = null

  constructor(client: NodeClient, since: number) {
    this.#client = client
    this.#since = since
  }

  /**
   * Reads one page of rows for each scope.
   *
   * @throws RetryableError `CHAIN_UNREACHABLE`, also if the head moves faster than the node answers.
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
   * Reads one page of the scopes of a table.
   *
   * @throws RetryableError `CHAIN_UNREACHABLE`, also if the head moves faster than the node answers.
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

  /** Reads the packed ABI of an account and whether the account has code; null if the account does not exist. */
  async account(name: string): Promise<{ abi: Uint8Array; hasCode: boolean } | null> {
    const answer = await this.#client.askAccount('/v1/chain/get_raw_abi', { account_name: name })
    if (answer === null) return null
    const { abi, code_hash: hash } = answer
    return {
      abi: typeof abi === 'string' ? Buffer.from(abi, 'base64') : new Uint8Array(0),
      hasCode: typeof hash === 'string' && /[^0]/.test(hash),
    }
  }

  /**
   * Repeats a request until the node's head is the same before and after the request; null if the head moved during
   * every attempt.
   */
  async #stable<T>(ask: () => Promise<T>, tries: number): Promise<Stable<T> | null> {
    let before = this.#head ?? (await this.#askHead())
    for (let attempt = 1; attempt <= tries; attempt++) {
      const value = await ask()
      const after = await this.#askHead()
      this.#head = after
      // The heads before and after the request may differ if both are irreversible: no fork can remove a block between
      // them.
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

/**
 * Formats a scope for a request. A node parses digits as a number, so a name of digits only is sent as its integer
 * value.
 */
function scopeText(scope: string): string {
  return /^[1-5]+$/.test(scope) ? nameToBigInt(scope).toString() : scope
}

/** Integer value of a scope. The node sorts scopes by this value. */
export function scopeValue(scope: string): bigint {
  return nameToBigInt(scope)
}

function unlike(node: string, path: string): RetryableError {
  return new RetryableError('CHAIN_UNREACHABLE', `${node} sent an unexpected reply to ${path}`)
}
