import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { clientKeyOf, createAddressSet, normalizeAddress } from './addresses.ts'

/** Proxies whose address of a client is trusted, as in `trust_proxy`: none, so many, or these addresses. */
export type TrustedProxies = boolean | number | string | readonly string[]

/** Who sent a request. */
export interface Client {
  /** Address of the TCP connection, normalized; `unknown` when it is closed already. */
  readonly peer: string
  /** The address furthest from here that a trusted proxy vouches for; that of the peer when there is no proxy. */
  readonly address: string
}

/** Settings named like their keys in server.config.json. */
export interface ClientSettings {
  readonly trust_proxy: TrustedProxies
  readonly ip_whitelist: readonly string[]
  readonly peer_whitelist: readonly string[]
}

/** A client and how it is to be treated. */
export interface KnownClient extends Client {
  /** What its requests are counted under. */
  readonly key: string
  /** Neither limited nor answered from the cache. */
  readonly isExempt: boolean
}

/** The other end of a TCP connection. */
export interface Peer {
  /** What its connections are counted under. */
  readonly key: string
  /** Its word about the addresses of clients is trusted. */
  readonly isProxy: boolean
  /** Its connections are not limited. */
  readonly isExempt: boolean
}

/** Returns a function that identifies the other end of a connection. */
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
  // Stored on the request itself, which is the fastest place to read.
  [CLIENT]?: KnownClient
}

/** Returns a function that finds the client of a request or Koa context, once for each request. */
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
 * Creates a function that returns the address of a client. `X-Forwarded-For` is read from its right end, where the nearest
 * proxy wrote what it saw, and only as far as the writer of each entry is trusted: what a client puts there itself stands
 * further left. A number trusts that many proxies, the connection's own end being the first; `true` is 1.
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
      // A proxy that writes something else says nothing about what is behind it.
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

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  if (entry.startsWith('[')) return entry.slice(1, entry.indexOf(']'))
  const colon = entry.indexOf(':')
  return colon >= 0 && colon === entry.lastIndexOf(':') ? entry.slice(0, colon) : entry
}
