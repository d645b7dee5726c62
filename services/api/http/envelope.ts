/** The success envelope around the JSON text of `data`; `query_time` is the server's clock in ms since 1970. */
export function successBody(data: string, nowMs: number): string {
  return `{"success":true,"data":${data},"query_time":${nowMs}}`
}

/** The failure envelope. */
export function failureBody(message: string): string {
  return JSON.stringify({ success: false, message })
}
