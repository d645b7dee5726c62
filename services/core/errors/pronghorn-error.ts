import type { ErrorCode } from './catalogue.ts'

/** Facts that belong to an error: block number, account, file. 64-bit values go in as bigint or decimal text. */
export type ErrorDetails = Readonly<Record<string, unknown>>

/** What every error of the program may carry beyond code and message. */
export interface ErrorOptionsWithDetails {
  readonly cause?: unknown
  readonly details?: ErrorDetails
}

/**
 * Base of all errors the program raises itself. `retryable` says whether a retry can help;
 * throw one of the two subclasses, never this one.
 */
export abstract class PronghornError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  abstract readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: ErrorOptionsWithDetails = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.code = code
    this.details = options.details ?? {}
    this.name = new.target.name
  }
}

/** The same operation may succeed later: roll back to the last position, back off, try again. */
export class RetryableError extends PronghornError {
  readonly retryable = true
}

/** Trying again cannot help: end the process with a clear message. */
export class FatalError extends PronghornError {
  readonly retryable = false
}
