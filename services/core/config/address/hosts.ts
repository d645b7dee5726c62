import { isIP } from 'node:net'

const MAX_PORT = 65_535
/**
 * A label of a host name (the text between two dots). Underscores are allowed, because names of containers have them.
 */
const LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/
const LONGEST_NAME = 253

/**
 * Whether the text is a host name or an IP address. A name whose last part is a number, such as `10.0.0.300`,
 * is not a host name.
 */
export function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true
  const labels = text.split('.')
  const isNumber = /^\d+$/.test(labels.at(-1) ?? '')
  return text.length <= LONGEST_NAME && !isNumber && labels.every((label) => LABEL.test(label))
}

/** A host with an optional port. */
export interface HostAndPort {
  readonly host: string
  readonly port: number | undefined
}

/** Splits `host`, `host:port` or `[address]:port` into host and port; undefined for other text. */
export function splitHostAndPort(text: string): HostAndPort | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = digits === undefined ? undefined : Number(digits)
  if (host === undefined || !isHost(host) || (bracketed !== undefined && isIP(bracketed) !== 6))
    return undefined
  return port === undefined || (port >= 1 && port <= MAX_PORT) ? { host, port } : undefined
}

/** Description of an allowed host, for the documentation and for problems. */
export const HOST_ALLOWED = 'a host name or an IP address'

/**
 * Whether the text is an IP address, with or without prefix length. An address with a zone (`fe80::1%eth0`)
 * is not accepted.
 */
export function isAddressRange(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}
