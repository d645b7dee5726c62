import { RequestError } from '../../core/http/index.ts'

/** The last step: no route matched. */
export function refuseUnknownPath(): never {
  throw new RequestError(404, 'Endpoint not found')
}
