import { RequestError } from '../../core/http/index.ts'
import { warningHeader } from '../../core/http/headers/index.ts'

/**
 * 400 in the wording that clients know.
 * @param reason what is wrong with the value, where the name alone does not say it.
 * @param allowed what the parameter allows, for example `limit must be a whole number from 1 to 1000`. Clients compare
 * the message with that of the replaced system, so this goes into the `Warning` header.
 */
export function invalidParameter(name: string, reason?: string, allowed?: string): RequestError {
  const wording = `Invalid value for parameter ${name}`
  const message = reason === undefined ? wording : `${wording}: ${reason}`
  return new RequestError(400, message, allowed === undefined ? {} : warningHeader([allowed]))
}
