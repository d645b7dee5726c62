import { FatalError } from '../../core/errors/index.ts'
import { redactUrls } from '../../core/log/index.ts'

/** Address of a state-history node, parsed. */
export interface NodeAddress {
  /** URL that the websocket client connects to. */
  readonly url: string
  /** Path of the unix socket to connect to instead of the host in `url`; null for TCP. */
  readonly socketPath: string | null
  /** Address of the node without credentials, for logs and health reports. */
  readonly label: string
}

/**
 * Parses `ws://host:port`, `wss://host` or `ws+unix:///path/to.sock`. In the last form the whole path names the socket
 * file, percent-decoded.
 * @throws FatalError `CONFIG_INVALID` for anything else.
 */
export function parseAddress(text: string): NodeAddress {
  if (!URL.canParse(text)) {
    throw new FatalError('CONFIG_INVALID', 'the state-history address is not a URL')
  }
  const url = new URL(text)
  if (url.protocol === 'ws:' || url.protocol === 'wss:') {
    return {
      url: withoutFragment(url),
      socketPath: null,
      label: redactUrls(`${url.protocol}//${url.host}${url.pathname}`),
    }
  }
  if (url.protocol === 'ws+unix:' && url.host === '' && url.pathname.length > 1) {
    const socketPath = decodeURIComponent(url.pathname)
    return { url: 'ws://localhost/', socketPath, label: `ws+unix://${socketPath}` }
  }
  throw new FatalError(
    'CONFIG_INVALID',
    `the state-history address begins with ${url.protocol}//, allowed are ws://, wss:// and ws+unix:///path`,
  )
}

function withoutFragment(url: URL): string {
  url.hash = ''
  return url.href
}
