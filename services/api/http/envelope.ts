/** The text before and after `data` in an answer; `query_time` is the server's clock in ms since 1970. */
export function successEnvelope(nowMs: number): readonly [before: string, after: string] {
  return ['{"success":true,"data":', `,"query_time":${nowMs}}`]
}

/** The success envelope around the JSON text of `data`. */
export function successBody(data: string, nowMs: number): string {
  return successEnvelope(nowMs).join(data)
}

/** The failure envelope. */
export function failureBody(message: string): string {
  return JSON.stringify({ success: false, message })
}
