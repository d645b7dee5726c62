import { FatalError, RetryableError } from '../errors/index.ts'
import { readLimitedText } from '../http/client/index.ts'
import { nodeFailure, requireSuccess, UnknownToNode } from './failure.ts'
import { nextKeyOf } from './next-key.ts'
import { requestBelow, shownAddress } from './address.ts'
import { answerBytes, TIMEOUT_MS } from './limits.ts'

const PAGE_ROWS = 500

/** Chain facts from a node's `get_info`. */
export interface ChainInfo {
  /** Chain id: 64 hexadecimal digits. */
  readonly chainId: string
  readonly headBlock: number
  /** Id of the head block: 64 hexadecimal digits. */
  readonly headId: string
  /** Time of the head block in epoch milliseconds. */
  readonly headTimeMs: number
  /** Last irreversible block; 0 if the node does not report it. */
  readonly irreversibleBlock: number
}

/** A block from a node's HTTP API. */
export interface NodeBlock {
  readonly num: number
  /** Block id, like `previous`: 64 hexadecimal digits. */
  readonly id: string
  readonly previous: string
  /** Block time in epoch milliseconds. */
  readonly timeMs: number
}

/**
 * Reads the head from a chain node's HTTP API (`get_info`).
 *
 * @throws RetryableError `CHAIN_UNREACHABLE` if the node does not answer, or if the reply is not a `get_info` reply.
 */
export async function readChainInfo(url: string): Promise<ChainInfo> {
  const info = await ask(url, '/v1/chain/get_info', {}, answerBytes.info)
  const { chain_id: chainId, head_block_num: headBlock, head_block_time: headTime } = info
  const { head_block_id: headId } = info
  const irreversible = info.last_irreversible_block_num
  const headTimeMs = parseTime(headTime)
  if (!isHash(chainId) || !isHash(headId) || typeof headBlock !== 'number' || Number.isNaN(headTimeMs)) {
    throw new RetryableError('CHAIN_UNREACHABLE', `${shownAddress(url)} sent an unexpected reply to get_info`)
  }
  const irreversibleBlock = typeof irreversible === 'number' ? irreversible : 0
  return { chainId, headBlock, headId, headTimeMs, irreversibleBlock }
}

function isHash(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{64}$/.test(text)
}

function parseTime(text: unknown): number {
  return typeof text === 'string' ? Date.parse(`${text.replace(/Z$/, '')}Z`) : NaN
}

/**
 * Reads a block by number from a chain node (`get_block_info`, or `get_block` on nodes without it).
 *
 * @throws RetryableError `CHAIN_UNREACHABLE` if the node does not answer or lacks the block.
 */
export async function readBlock(url: string, num: number): Promise<NodeBlock> {
  const block = await ask(url, '/v1/chain/get_block_info', { block_num: num }, answerBytes.info).catch(() =>
    ask(url, '/v1/chain/get_block', { block_num_or_id: String(num) }, answerBytes.block),
  )
  const { id, previous, timestamp } = block
  const timeMs = parseTime(timestamp)
  if (!isHash(id) || !isHash(previous) || Number.isNaN(timeMs))
    throw new RetryableError(
      'CHAIN_UNREACHABLE',
      `${shownAddress(url)} sent an unexpected reply to the request of block ${num}`,
    )
  return { num, id, previous, timeMs }
}

/** Body of a `get_table_rows` request. */
interface TableRowsRequest {
  readonly code: string
  readonly scope: string
  readonly table: string
  readonly lower_bound?: string
  readonly limit: number
  /** Row format: true = JSON, false = hexadecimal packed rows. */
  readonly json: boolean
}

/** A table row in the node's JSON format. */
export type JsonRow = Readonly<Record<string, unknown>>

/** A page of the rows of a contract table. */
interface TableRowsPage {
  readonly rows: readonly unknown[]
  /** `lower_bound` of the request for the next page; null after the last page. */
  readonly next: string | null
}

/**
 * Reads a page of a contract table from a chain node.
 *
 * @throws RetryableError `CHAIN_UNREACHABLE`, FatalError `CHAIN_NODE_TOO_OLD`.
 */
async function readTableRows(url: string, request: TableRowsRequest): Promise<TableRowsPage> {
  const answer = await ask(url, '/v1/chain/get_table_rows', request, answerBytes.table)
  const { rows } = answer
  if (!Array.isArray(rows))
    throw new RetryableError(
      'CHAIN_UNREACHABLE',
      `${shownAddress(url)} sent an unexpected reply to get_table_rows`,
    )
  const readInfo = () => ask(url, '/v1/chain/get_info', {}, answerBytes.info)
  const next = await nextKeyOf(answer, request.lower_bound ?? '', shownAddress(url), readInfo)
  return { rows: rows as unknown[], next }
}

/**
 * Reads all current rows of a contract table as JSON.
 *
 * @throws RetryableError `CHAIN_UNREACHABLE`, FatalError `CHAIN_NODE_TOO_OLD`, or `CHAIN_TABLE_TOO_LARGE` if the table
 * has more than `maxPages` pages.
 */
export async function readTable(
  url: string,
  table: Pick<TableRowsRequest, 'code' | 'scope' | 'table'>,
  maxPages: number,
): Promise<JsonRow[]> {
  const rows: JsonRow[] = []
  let lower: string | null = ''
  for (let page = 0; lower !== null; page++) {
    if (page === maxPages) {
      const name = `table ${table.table} of ${table.code}`
      throw new FatalError('CHAIN_TABLE_TOO_LARGE', `${name} has more than ${maxPages * PAGE_ROWS} rows`)
    }
    const request = { ...table, limit: PAGE_ROWS, json: true }
    const answer = await readTableRows(url, lower === '' ? request : { ...request, lower_bound: lower })
    rows.push(...(answer.rows as JsonRow[]))
    lower = answer.next
  }
  return rows
}

/**
 * Reads the current packed ABI of an account; null if the account has none.
 *
 * @throws RetryableError `CHAIN_UNREACHABLE`.
 */
export async function readRawAbi(url: string, account: string): Promise<Uint8Array | null> {
  const request = { account_name: account }
  const answer = await ask(url, '/v1/chain/get_raw_abi', request, answerBytes.abi).catch((error: unknown) => {
    if (error instanceof RetryableError && error.cause instanceof UnknownToNode) return { abi: null }
    throw error
  })
  const { abi } = answer
  return typeof abi === 'string' && abi !== '' ? Buffer.from(abi, 'base64') : null
}

/**
 * Checks that a node serves the configured chain. A node that does not answer counts as no mismatch.
 *
 * @returns false if the node does not answer.
 * @throws FatalError `CHAIN_MISMATCH`.
 */
export async function checkChainId(url: string, chainId: string): Promise<boolean> {
  const info = await readChainInfo(url).catch(() => null)
  if (info !== null && info.chainId !== chainId) {
    throw new FatalError(
      'CHAIN_MISMATCH',
      `the chain node ${shownAddress(url)} serves chain ${info.chainId}, but the configuration names chain ${chainId}`,
      { details: { held: `chain ${chainId}` } },
    )
  }
  return info !== null
}

async function ask(
  address: string,
  path: string,
  body: object,
  maxBytes: number,
): Promise<Record<string, unknown>> {
  try {
    const { url, headers } = requestBelow(address, path)
    const response = await fetch(url, {
      headers,
      method: 'POST',
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await readLimitedText(response, maxBytes)
    requireSuccess(response, text)
    return readObject(text)
  } catch (cause) {
    throw nodeFailure(cause, shownAddress(address), path)
  }
}

/** Maximum characters that an error message quotes from the response of a chain node or another server. */
const MAX_SHOWN = 60

function readObject(text: string): Record<string, unknown> {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new Error(`the answer is not JSON: ${JSON.stringify(text.slice(0, MAX_SHOWN))}`)
  }
  if (typeof answer !== 'object' || answer === null) throw new Error('the answer is not a JSON object')
  return answer as Record<string, unknown>
}
