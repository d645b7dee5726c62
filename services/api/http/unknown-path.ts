import { RequestError } from '../../core/http/index.ts'

/** The last step: nobody answered. */
export function refuseUnknownPath(): never {
  throw new RequestError(404, 'Endpoint not found')
}
