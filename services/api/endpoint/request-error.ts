import { RequestError } from '../../core/http/index.ts'

/** 400 in the wording that clients know. */
export function invalidParameter(name: string): RequestError {
  return new RequestError(400, `Invalid value for parameter ${name}`)
}
