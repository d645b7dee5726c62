import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { clientKeyOf, createAddressSet, normalizeAddress } from './addresses.ts'

/**
 * Setting `trust_proxy`: proxies whose `X-Forwarded-For` entries are trusted: none, a number of proxies, or addresses.
 */
export type TrustedProxies = boolean | number | string | readonly string[]

/** Addresses of the sender of a request. */
export interface Client {
  /** Normalized address of the TCP connection; `unknown` if the connection is already closed. */
  readonly peer: string
  /**
   * Client address. Without a trusted proxy: the address of the peer. Otherwise: the leftmost address in
   * `X-Forwarded-For` that a trusted proxy wrote.
   */
  readonly address: string
}

/** Settings of server.config.json that decide which IP address is the client, and which clients are exempt. */
export interface ClientSettings {
  readonly trust_proxy: TrustedProxies
  readonly ip_whitelist: readonly string[]
  readonly peer_whitelist: readonly string[]
}

/** A client with the key under which the rate limit counts its requests. */
export interface KnownClient extends Client {
  /** Key under which the client's requests are counted. */
  readonly key: string
  /** Whether the client is exempt: neither rate-limited nor answered from the cache. */
  readonly isExempt: boolean
}

/** Remote end of a TCP connection. */
export interface Peer {
  /** Key under which the peer's connections are counted. */
  readonly key: string
  /** Whether the peer is a trusted proxy, whose `X-Forwarded-For` entries count. */
  readonly isProxy: boolean
  /** Whether the peer's connections are exempt from the limit. */
  readonly isExempt: boolean
}

/** Creates a function that identifies the remote end of a connection. */
export function createPeers(settings: ClientSettings): (socket: Socket) => Peer {
  const { trust_proxy: trusted } = settings
  const trusts = trusted === false ? () => false : trustOf(trusted)
  const isListed = createAddressSet([...settings.ip_whitelist, ...settings.peer_whitelist])
  return (socket) => {
    const peer = peerOf({ socket })
    return { key: clientKeyOf(peer), isProxy: trusts(peer, 0), isExempt: isListed(peer) }
  }
}

const CLIENT = Symbol('client')

interface RequestWithClient extends IncomingMessage {
  // Caches the client address on the request object: no other cache is faster to read.
  [CLIENT]?: KnownClient
}

/** Creates a function that finds the client of a request or Koa context, once per request. */
export function createClients(
  settings: ClientSettings,
): (of: { readonly req: IncomingMessage }) => KnownClient {
  const findClient = createClientFinder(settings.trust_proxy)
  const isListedClient = createAddressSet(settings.ip_whitelist)
  const isListedPeer = createAddressSet(settings.peer_whitelist)
  return ({ req }: { readonly req: RequestWithClient }) => {
    const known = req[CLIENT]
    if (known) return known
    const { peer, address } = findClient(req)
    const isExempt = isListedClient(address) || isListedPeer(peer)
    return (req[CLIENT] = { peer, address, key: clientKeyOf(address), isExempt })
  }
}

/**
 * Creates a function that finds the client address of a request. Reads `X-Forwarded-For` from the right: each proxy
 * appends the address that it sees. Reading stops at the first entry whose writer is not trusted, so entries that a
 * client forges further left have no effect. A number n trusts n proxies, the TCP peer included; `true` means 1.
 */
export function createClientFinder(trusted: TrustedProxies): (request: IncomingMessage) => Client {
  if (trusted === false) {
    return (request) => {
      const peer = peerOf(request)
      return { peer, address: peer }
    }
  }
  const trusts = trustOf(trusted)
  return (request) => {
    const peer = peerOf(request)
    let address = peer
    let hop = 0
    for (const entry of fromTheRight(forwardedOf(request))) {
      if (!trusts(address, hop)) break
      const before = normalizeAddress(withoutPort(entry))
      // An entry of X-Forwarded-For that is no IP address ends the search: the entries further left cannot be trusted.
      if (before === undefined) break
      address = before
      hop++
    }
    return { peer, address }
  }
}

function trustOf(
  trusted: true | number | string | readonly string[],
): (address: string, hop: number) => boolean {
  if (trusted === true) return (_address, hop) => hop < 1
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted
  const ranges = typeof trusted === 'string' ? trusted.split(',').map((each) => each.trim()) : trusted
  return createAddressSet(ranges)
}

function peerOf({ socket }: { readonly socket: Socket }): string {
  return normalizeAddress(socket.remoteAddress ?? '') ?? 'unknown'
}

function forwardedOf({ headers }: IncomingMessage): string {
  const value = headers['x-forwarded-for'] ?? ''
  return typeof value === 'string' ? value : value.join(',')
}

function* fromTheRight(list: string): Generator<string> {
  let end = list.length
  while (end > 0) {
    const comma = list.lastIndexOf(',', end - 1)
    yield list.slice(comma + 1, end).trim()
    end = comma
  }
}

/** Removes a port, which some proxies append: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  if (entry.startsWith('[')) return entry.slice(1, entry.indexOf(']'))
  const colon = entry.indexOf(':')
  return colon >= 0 && colon === entry.lastIndexOf(':') ? entry.slice(0, colon) : entry
}
