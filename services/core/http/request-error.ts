import { FatalError } from '../errors/index.ts'

/** An answer other than success that the client is to read: status and message go out as they are. */
export class RequestError extends FatalError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super('INVALID_REQUEST', message)
    this.status = status
    this.headers = headers
  }
}
