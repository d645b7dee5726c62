import { RequestError } from '../../core/http/index.ts'

/** Clients compare the message with that of the replaced system, so the way to the documentation is a header. */
const documentation = { Link: '</docs>; rel="service-doc"' }

/** The last step: no route matched. */
export function refuseUnknownPath(): never {
  throw new RequestError(404, 'Endpoint not found', documentation)
}
