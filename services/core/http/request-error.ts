import { FatalError } from '../errors/index.ts'

/** An error whose status and message are sent to the client unchanged. */
export class RequestError extends FatalError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super('INVALID_REQUEST', message)
    this.status = status
    this.headers = headers
  }
}
