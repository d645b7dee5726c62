/** A request to a node, as `fetch` takes it. */
interface NodeRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/**
 * A path below the address of a node. A user and a password in the address become a header, because `fetch` refuses
 * them there.
 */
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

/** The address of a node as it may be shown: without user, password, query and fragment, where keys are put. */
export function shownAddress(address: string): string {
  const { protocol, host, pathname } = new URL(address)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}
