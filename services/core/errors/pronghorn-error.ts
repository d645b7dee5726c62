import type { ErrorCode } from './catalogue.ts'

/** Facts about an error: block number, account, file. 64-bit values are bigint or decimal text. */
export type ErrorDetails = Readonly<Record<string, unknown>>

/** Optional data of every error of the program. */
export interface ErrorOptionsWithDetails {
  readonly cause?: unknown
  readonly details?: ErrorDetails
}

/**
 * Base class of all errors that the program raises itself. `retryable` says whether a retry can help. Throw one of the
 * two subclasses, never the base class.
 */
export abstract class PronghornError extends Error {
  readonly code: ErrorCode
  #details: ErrorDetails
  abstract readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: ErrorOptionsWithDetails = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.code = code
    this.#details = options.details ?? {}
    this.name = new.target.name
  }

  get details(): ErrorDetails {
    return this.#details
  }

  /**
   * Adds details that only a caller of the failed function knows, such as the command-line option that supplied an
   * address. Details that the error already has are not replaced.
   */
  addDetails(details: ErrorDetails): this {
    this.#details = { ...details, ...this.#details }
    return this
  }
}

/** An error that a retry may fix: roll back to the last position, back off, try again. */
export class RetryableError extends PronghornError {
  readonly retryable = true
}

/** An error that a retry cannot fix: end the process with a clear message. */
export class FatalError extends PronghornError {
  readonly retryable = false
}
