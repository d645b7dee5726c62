import { RequestError } from '../../core/http/index.ts'

/** Link to the documentation. It is a header because clients compare the message with the replaced system's message. */
const documentation = { Link: '</docs>; rel="service-doc"' }

/** The last step: no route matched the path. */
export function refuseUnknownPath(): never {
  throw new RequestError(404, 'Endpoint not found', documentation)
}
