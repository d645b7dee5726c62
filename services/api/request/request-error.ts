import { RequestError } from '../../core/http/index.ts'
import { warningHeader } from '../../core/http/headers/index.ts'

/**
 * Creates an error 400 in the wording of the replaced system.
 * @param reason problem of the value, if the name of the parameter does not show the problem.
 * @param allowed allowed values, for example `limit must be a whole number from 1 to 1000`. Sent in the `Warning`
 * header, because clients compare the message with the replaced system's message.
 */
export function invalidParameter(name: string, reason?: string, allowed?: string): RequestError {
  const wording = `Invalid value for parameter ${name}`
  const message = reason === undefined ? wording : `${wording}: ${reason}`
  return new RequestError(400, message, allowed === undefined ? {} : warningHeader([allowed]))
}
