import { FatalError } from '../errors/index.ts'

/**
 * Bytes that do not fit their declared type (code `DECODE_FAILED`). `path` locates the error in the value, for
 * instance `logmint.backed_tokens[3].symbol`, and is empty if unknown; `offset` counts bytes from the start of the
 * given buffer.
 */
export class DecodeError extends FatalError {
  readonly path: string
  readonly offset: number

  constructor(reason: string, path: string, offset: number, options: { readonly cause?: unknown } = {}) {
    const place = path === '' ? `byte ${offset}` : `${path}, byte ${offset}`
    super('DECODE_FAILED', `${reason} (at ${place})`, { ...options, details: { path, offset } })
    this.path = path
    this.offset = offset
  }
}

/** A value that cannot be packed as its declared type (code `ENCODE_FAILED`). `path` locates the error in the value. */
export class EncodeError extends FatalError {
  readonly reason: string
  readonly path: string

  constructor(reason: string, path = '') {
    super('ENCODE_FAILED', path === '' ? reason : `${reason} (at ${path})`, { details: { path } })
    this.reason = reason
    this.path = path
  }
}

/** An ABI that is malformed, refers to an undefined type, or exceeds a limit (code `ABI_INVALID`). */
export class AbiError extends FatalError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super('ABI_INVALID', message, options)
  }
}
