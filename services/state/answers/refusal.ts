import { FatalError } from '../../core/errors/index.ts'

/** Facts of a refusal, for programs. */
export type RefusalDetails = Readonly<Record<string, unknown>>

/** Parts of a refusal that not every one has. */
export interface RefusalExtras {
  readonly details?: RefusalDetails
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer other than success: status, code, message and details go out as they are. */
export class Refusal extends FatalError {
  readonly status: number
  /** Code of the envelope, such as `data_abi_not_found_error`. */
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

/** Parameters that cannot be used: name to complaints. */
export function invalidRequest(errors: Readonly<Record<string, readonly string[]>>): Refusal {
  return new Refusal(400, 'request_validation_error', 'The request is invalid.', { details: { errors } })
}

/** The service cannot answer now. */
export function notReady(message: string): Refusal {
  return new Refusal(503, 'app_not_ready_error', message, { headers: { 'Retry-After': '1' } })
}

/** A block that is not there yet. */
export function aboveHead(requested: bigint, head: number, written: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_higher_than_head_block_error',
    `The requested block num '${requested}' is higher than head block num '${head}'.`,
    { details: { request_block_num: requested, head_block_num: head, last_written_block_num: written } },
  )
}

/** A block that a fork may still undo, for who asked for irreversible blocks only. */
export function aboveIrreversible(requested: bigint, irreversible: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_higher_than_lib_error',
    `The requested block num '${requested}' is higher than last irreversible block num '${irreversible}'.`,
    { details: { request_block_num: requested, last_written_block_num: irreversible } },
  )
}

/** A block of which nothing is known any more, or never was. */
export function belowHistory(requested: number, first: number, head: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_lower_than_first_block_error',
    `The requested block num '${requested}' is lower than the first one that this server knows, '${first}'.`,
    { details: { request_block_num: requested, first_block_num: first, head_block_num: head } },
  )
}

/** A block that was left out because the reader's `start_block` was raised above it. */
export function insideGap(requested: bigint, first: number, last: number): Refusal {
  return notIndexed(`The requested block num '${requested}' was not indexed`, first, last)
}

/** The block that is requested may be one of those that were left out. */
export function nextToGap(nearest: number, first: number, last: number): Refusal {
  return notIndexed(`The blocks next to block num '${nearest}' were not indexed`, first, last)
}

function notIndexed(what: string, first: number, last: number): Refusal {
  return new Refusal(
    400,
    'app_block_num_not_indexed_error',
    `${what}: blocks '${first}' to '${last}' are missing.`,
    { details: { first_missing_block_num: first, last_missing_block_num: last } },
  )
}

/** There was no ABI then, or it had been removed. */
export function abiNotFound(account: string, block: number): Refusal {
  return new Refusal(
    400,
    'data_abi_not_found_error',
    `ABI not found for account '${account}' at block '${block}'.`,
    { details: { account, block_num: block } },
  )
}

/** Refusal of an answer with too many bytes. @param fitting the largest `limit` that fits; 0 where there is none. */
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
