import { BlockList, isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Ranges that have a name in `trust_proxy`. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const MAPPED = '::ffff:'

/** Bits of an IPv6 address that identify a client: a provider assigns a network of this size to each customer. */
const CLIENT_BITS = 56

/**
 * The one spelling of an IP address: IPv4 that is mapped into IPv6 as IPv4, IPv6 in its shortest form, without zone.
 * @returns undefined when the text is no address.
 */
export function normalizeAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  if (text.startsWith(MAPPED)) {
    const mapped = text.slice(MAPPED.length)
    if (isIPv4(mapped)) return mapped
  }
  const [plain = ''] = text.split('%', 1)
  return isIP(plain) === 0 ? undefined : ipaddr.process(plain).toString()
}

/**
 * The identity that requests of a client are counted by: an IPv4 address, or the network of an IPv6 address, because
 * within it a client can take any address.
 */
export function clientKeyOf(address: string): string {
  if (!address.includes(':')) return address
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${CLIENT_BITS}`).toString()
}

/**
 * Checks whether a normalized address is in one of the ranges: addresses, ranges such as `10.0.0.0/8`, or the names
 * loopback, linklocal and uniquelocal.
 */
export function createAddressSet(ranges: readonly string[]): (address: string) => boolean {
  if (ranges.length === 0) return () => false
  const single = new Set<string>()
  const networks = new BlockList()
  for (const range of ranges.flatMap((each) => namedRanges[each] ?? [each])) {
    const at = range.indexOf('/')
    const address = normalizeAddress(at < 0 ? range : range.slice(0, at))
    if (address === undefined) continue
    if (at < 0) single.add(address)
    else networks.addSubnet(address, prefixOf(range, at, address), familyOf(address))
  }
  return (address) =>
    single.has(address) || (isIP(address) !== 0 && networks.check(address, familyOf(address)))
}

/** Bits of a range; those of a mapped IPv4 network count the 96 before it. */
function prefixOf(range: string, at: number, address: string): number {
  const bits = Number(range.slice(at + 1))
  return range.includes(':') && isIPv4(address) ? Math.max(0, bits - 96) : bits
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}
