import type { ServerResponse } from 'node:http'

export type Headers = Readonly<Record<string, string>>

/** Sets response headers; `Vary` is added to the existing value. */
export function setHeaders(response: ServerResponse, headers: Headers): void {
  for (const name in headers) {
    const value = headers[name]!
    const before = name === 'Vary' ? response.getHeader(name) : undefined
    response.setHeader(name, before === undefined ? value : `${String(before)}, ${value}`)
  }
}
