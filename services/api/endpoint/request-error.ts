import { RequestError } from '../../core/http/index.ts'

/** 400 in the wording that clients know. @param reason what is wrong with it, where the name alone does not tell. */
export function invalidParameter(name: string, reason?: string): RequestError {
  const wording = `Invalid value for parameter ${name}`
  return new RequestError(400, reason === undefined ? wording : `${wording}: ${reason}`)
}
