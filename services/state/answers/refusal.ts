import { FatalError } from '../../core/errors/index.ts'

/** Machine-readable details of an error response. */
export type RefusalDetails = Readonly<Record<string, unknown>>

/** Optional parts of an error response. */
export interface RefusalExtras {
  readonly details?: RefusalDetails
  readonly headers?: Readonly<Record<string, string>>
}

/** A failure response: status, code, message and details are sent as they are. */
export class Refusal extends FatalError {
  readonly status: number
  /** Code in the error response, such as `data_abi_not_found_error`. */
  readonly answerCode: string
  readonly answerDetails: RefusalDetails
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    answerCode: string,
    message: string,
    { details = {}, headers = {} }: RefusalExtras = {},
  ) {
    super('INVALID_REQUEST', message)
    this.status = status
    this.answerCode = answerCode
    this.answerDetails = details
    this.headers = headers
  }
}

/** Error 400 for invalid parameters: complaints by parameter name. */
export function invalidRequest(errors: Readonly<Record<string, readonly string[]>>): Refusal {
  return new Refusal(400, 'request_validation_error', 'The request is invalid.', { details: { errors } })
}

/** Error 503: the service cannot answer now. */
export function notReady(message: string): Refusal {
  return new Refusal(503, 'app_not_ready_error', message, { headers: { 'Retry-After': '1' } })
}

/** Error for a block above the last indexed block. */
export function aboveHead(requested: bigint, head: number, written: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_higher_than_head_block_error',
    `The requested block num '${requested}' is higher than head block num '${head}'.`,
    { details: { request_block_num: requested, head_block_num: head, last_written_block_num: written } },
  )
}

/** Error for a block above the last irreversible block, if the client asked for irreversible blocks only. */
export function aboveIrreversible(requested: bigint, irreversible: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_higher_than_lib_error',
    `The requested block num '${requested}' is higher than last irreversible block num '${irreversible}'.`,
    { details: { request_block_num: requested, last_written_block_num: irreversible } },
  )
}

/** Error for a block below the first block whose state is known. */
export function belowHistory(requested: number, first: number, head: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_lower_than_first_block_error',
    `The requested block num '${requested}' is lower than the first block num that this server knows, '${first}'.`,
    { details: { request_block_num: requested, first_block_num: first, head_block_num: head } },
  )
}

/** Error for a block in a gap, which the reader skipped when its `start_block` was raised. */
export function insideGap(requested: bigint, first: number, last: number): Refusal {
  return notIndexed(`The requested block num '${requested}' was not indexed`, first, last)
}

/**
 * Error for a search by time whose result is next to a gap. The nearest block to the time may be in the gap, which the
 * reader skipped.
 */
export function nextToGap(nearest: number, first: number, last: number): Refusal {
  return notIndexed(
    `The blocks directly before or after block num '${nearest}' were not indexed`,
    first,
    last,
  )
}

function notIndexed(what: string, first: number, last: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_not_indexed_error',
    `${what}: blocks '${first}' to '${last}' are missing.`,
    { details: { first_missing_block_num: first, last_missing_block_num: last } },
  )
}

/** Error: the account had no ABI at the block, or had removed it. */
export function abiNotFound(account: string, block: number): Refusal {
  return new Refusal(
    400,
    'data_abi_not_found_error',
    `ABI not found for account '${account}' at block '${block}'.`,
    { details: { account, block_num: block } },
  )
}

/**
 * Error for a response with too many bytes.
 * @param fitting the largest `limit` that fits; 0 if there is none.
 */
export function answerTooLarge(bytes: number, maxBytes: number, fitting = 0): Refusal {
  const limit = fitting > 0 ? `: use limit=${fitting} or less` : ''
  return new Refusal(
    400,
    'data_table_too_large_error',
    `The answer would have about ${bytes} bytes, ${maxBytes} are allowed (${ANSWER_SETTING})${limit}.`,
    { details: { bytes, max_bytes: maxBytes } },
  )
}

const ANSWER_SETTING = 'STATE_ANSWER_BYTES'
