import { toJsonText } from './json-text.ts'
import type { RefusalDetails } from './refusal.ts'

/** Body of an error response. `details` is omitted if it is undefined. */
export function envelope(
  code: string,
  message: string,
  traceId: string,
  details: RefusalDetails = {},
): string {
  const some = Object.keys(details).length > 0 ? { details } : {}
  return toJsonText({ code, trace_id: traceId, message, ...some })
}
