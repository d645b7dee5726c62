/** An HTTP request: method, URL, headers and body. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

/** The `curl` command of a request, for a POSIX shell. */
export function curlCommand({ method, url, headers = {}, body }: SentRequest): string {
  const parts = ['curl', '-s']
  if (method === 'HEAD') parts.push('-I')
  else if (method !== (body === undefined ? 'GET' : 'POST')) parts.push('-X', method)
  for (const [name, value] of Object.entries(headers)) parts.push('-H', quote(`${name}: ${value}`))
  if (body !== undefined) parts.push('--data-raw', quote(body))
  return [...parts, quote(url)].join(' ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
