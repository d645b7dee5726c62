import { hexToBytes } from '../../core/bytes/index.ts'
import { nameToBigInt } from '../../core/antelope/index.ts'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import { nextKeyOf, NodeClient } from '../../core/chain-node/index.ts'
import { RetryableError } from '../../core/errors/index.ts'
import type { RowDecoder } from '../decode/index.ts'
import type { ChainRow, Place } from '../tables/index.ts'
import type { ChainSource, Head } from './source.ts'

const SCOPES_A_PAGE = 1_000
const ROWS_A_PAGE = 1_000

export interface HttpSourceOptions {
  readonly url: string
  /** Number of concurrent requests to the node. */
  readonly atOnce: number
  readonly decoder: RowDecoder
  readonly signal: AbortSignal
}

/**
 * Reads the tables of a node's HTTP API as packed rows, page by page, several scopes at once. Each row is as of its
 * request.
 */
export class HttpSource implements ChainSource {
  readonly description: string
  readonly decoder: string
  readonly isFixed = false
  readonly isWhole = true
  readonly absenceDoubt = null
  /** Sentences about the source for the report. */
  readonly notes: string[] = []
  readonly #node: NodeClient
  readonly #decoder: RowDecoder
  readonly #atOnce: number
  /** Names of the tables in the ABI of each contract; null without an ABI. */
  readonly #loaded = new Map<string, Promise<ReadonlySet<string> | null>>()

  constructor({ url, atOnce, decoder, signal }: HttpSourceOptions) {
    this.description = `the node at ${new URL(url).origin}`
    this.decoder = decoder.name
    this.#node = new NodeClient(url, atOnce, signal)
    this.#decoder = decoder
    this.#atOnce = atOnce
  }

  async answers(contract: string): Promise<boolean> {
    return (await this.#load(contract)) !== null
  }

  async *rows(contract: string, table: string, scope?: string): AsyncGenerator<readonly ChainRow[]> {
    if (!(await this.#load(contract))?.has(table)) return
    const scopes = scope === undefined ? this.#scopes(contract, table) : oneScope(scope)
    // The pages of several scopes are requested concurrently; each is yielded as soon as it arrives.
    const running = new Map<object, Promise<Page & { readonly self: object }>>()
    const start = (ask: () => Promise<Page>) => {
      const self = {}
      const promise = ask().then((page) => ({ ...page, self }))
      // The request is awaited later, or never if another request fails first: without this handler, its failure would
      // be an unhandled rejection.
      promise.catch(() => undefined)
      running.set(self, promise)
    }
    let isMore = true
    while (isMore || running.size > 0) {
      while (isMore && running.size < this.#atOnce) {
        const next = await scopes.next()
        if (next.done === true) isMore = false
        else start(() => this.#page(contract, table, next.value, ''))
      }
      if (running.size === 0) break
      const { rows, next, self } = await Promise.race(running.values())
      running.delete(self)
      if (next !== null) start(next)
      if (rows.length > 0) yield rows
    }
  }

  async row(contract: string, table: string, { scope, primary }: Place): Promise<ChainRow | null> {
    if (!(await this.#load(contract))?.has(table)) return null
    const answer = await this.#node.ask('/v1/chain/get_table_rows', {
      code: contract,
      table,
      scope: scopeText(scope),
      json: false,
      limit: 1,
      lower_bound: primary.toString(),
      upper_bound: primary.toString(),
    })
    const [hex] = rowsOf(answer, this.#node.label)
    return hex === undefined ? null : { scope, data: this.#decode(contract, table, hex) }
  }

  async head(): Promise<Head> {
    const { head_block_num: num, head_block_id: id } = await this.#node.ask('/v1/chain/get_info', {})
    if (typeof num !== 'number' || typeof id !== 'string') throw unlike(this.#node.label, 'get_info')
    return { num, id }
  }

  async #page(contract: string, table: string, scope: string, from: string): Promise<Page> {
    const answer = await this.#node.ask('/v1/chain/get_table_rows', {
      code: contract,
      table,
      scope: scopeText(scope),
      json: false,
      limit: ROWS_A_PAGE,
      lower_bound: from,
    })
    const rows = rowsOf(answer, this.#node.label).map((hex) => ({
      scope,
      data: this.#decode(contract, table, hex),
    }))
    const readInfo = () => this.#node.ask('/v1/chain/get_info', {})
    const next = await nextKeyOf(answer, from, this.#node.label, readInfo)
    return { rows, next: next === null ? null : () => this.#page(contract, table, scope, next) }
  }

  async *#scopes(contract: string, table: string): AsyncGenerator<string> {
    let from = ''
    for (;;) {
      const answer = await this.#node.ask('/v1/chain/get_table_by_scope', {
        code: contract,
        table,
        limit: SCOPES_A_PAGE,
        lower_bound: from,
      })
      const { rows, more } = answer as { rows?: unknown; more?: unknown }
      if (!Array.isArray(rows) || typeof more !== 'string')
        throw unlike(this.#node.label, 'get_table_by_scope')
      for (const { scope, table: found } of rows as { scope: string; table: string }[])
        if (found === table) yield scope
      if (more === '') return
      const next = nameToBigInt(more).toString()
      if (next === from) throw unlike(this.#node.label, 'get_table_by_scope')
      from = next
    }
  }

  #decode(contract: string, table: string, hex: string): Record<string, unknown> {
    return this.#decoder.decode(contract, table, hexToBytes(hex))
  }

  /**
   * Loads the ABI of a contract. An account that does not exist has no tables; rows of an account without ABI cannot
   * be decoded.
   */
  #load(contract: string): Promise<ReadonlySet<string> | null> {
    const known = this.#loaded.get(contract)
    if (known) return known
    const loading = (async () => {
      const answer = await this.#node.askAccount('/v1/chain/get_raw_abi', { account_name: contract })
      if (answer === null) {
        this.notes.push(`${this.description} has no account ${contract}, so this contract has no rows`)
        return new Set<string>()
      }
      const packed = answer.abi
      if (typeof packed !== 'string' || packed === '') return null
      const abi = parsePackedAbi(Buffer.from(packed, 'base64'))
      this.#decoder.load(contract, abi)
      return new Set(abi.tables.map(({ name }) => name))
    })()
    this.#loaded.set(contract, loading)
    return loading
  }
}

interface Page {
  readonly rows: ChainRow[]
  readonly next: (() => Promise<Page>) | null
}

async function* oneScope(scope: string): AsyncGenerator<string> {
  yield await Promise.resolve(scope)
}

/** A node parses a scope that has only digits as a number, so a name such as `12345` is sent as its 64-bit value. */
function scopeText(scope: string): string {
  return /^[1-5]+$/.test(scope) ? nameToBigInt(scope).toString() : scope
}

function rowsOf(answer: Record<string, unknown>, node: string): string[] {
  const { rows } = answer
  if (!Array.isArray(rows) || rows.some((row) => typeof row !== 'string'))
    throw unlike(node, 'get_table_rows')
  return rows as string[]
}

function unlike(node: string, path: string): RetryableError {
  return new RetryableError('CHAIN_UNREACHABLE', `${node} sent an unexpected reply to ${path}`)
}
