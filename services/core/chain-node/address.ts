import { redactUrls } from '../log/index.ts'

/** Arguments of `fetch` for a request to a node. */
interface NodeRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/** Builds a request to a path of a node. `fetch` refuses credentials in a URL, so user and password become a header. */
export function requestBelow(address: string, path: string): NodeRequest {
  const url = new URL(address)
  const { username, password } = url
  url.username = ''
  url.password = ''
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  if (username === '' && password === '') return { url, headers: {} }
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return { url, headers: { authorization: `Basic ${login.toString('base64')}` } }
}

/** Formats the address of a server for messages, without user, password, query, fragment and API keys in the path. */
export function shownAddress(address: string): string {
  const { protocol, host, pathname } = new URL(address)
  return redactUrls(`${protocol}//${host}${pathname === '/' ? '' : pathname}`)
}
