import { BlockList, isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Address ranges of the names that `trust_proxy` accepts. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const MAPPED = '::ffff:'

/** Prefix length that identifies an IPv6 client: providers assign a network of this size to each customer. */
const CLIENT_BITS = 56

/**
 * Normalizes an IP address: IPv4-mapped IPv6 becomes IPv4; IPv6 gets its shortest form without zone.
 * @returns undefined if the text is not an IP address.
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
 * Key for counting a client's requests: the IPv4 address, or the IPv6 network, because a client can use any address in
 * its network.
 */
export function clientKeyOf(address: string): string {
  if (!address.includes(':')) return address
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${CLIENT_BITS}`).toString()
}

/**
 * Creates a function that checks whether one of the ranges contains a normalized address. A range is an address, a
 * network such as `10.0.0.0/8`, or one of the names loopback, linklocal and uniquelocal.
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

/** Prefix length of a range; in IPv4-mapped notation the prefix includes the 96 mapping bits. */
function prefixOf(range: string, at: number, address: string): number {
  const bits = Number(range.slice(at + 1))
  return range.includes(':') && isIPv4(address) ? Math.max(0, bits - 96) : bits
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}
