/** Text before and after `data` in a response. `query_time` is the server's clock in ms since 1970. */
export function successEnvelope(nowMs: number): readonly [before: string, after: string] {
  return ['{"success":true,"data":', `,"query_time":${nowMs}}`]
}

/** Wraps the JSON text of `data` in the success envelope. */
export function successBody(data: string, nowMs: number): string {
  return successEnvelope(nowMs).join(data)
}

/** JSON text of a failure. */
export function failureBody(message: string): string {
  return JSON.stringify({ success: false, message })
}
