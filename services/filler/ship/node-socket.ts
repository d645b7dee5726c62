import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'
import type { NodeAddress } from './address.ts'
import type { ShipTiming } from './types.ts'

/** Limits whose violation closes a connection: the size of a message, its number of parts, bytes before the stream. */
export type SocketLimit = 'message-size' | 'message-parts' | 'unasked-bytes'

/** Codes by which `ws` reports a message above its limits. */
const limitCodes: Readonly<Record<string, SocketLimit>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'message-size',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'message-parts',
}

/**
 * Average size of a fragment below which a message of the largest size is refused, because each costs an object:
 * nodes write 4 kB or more. The same for chunks of one frame as they come from the network.
 */
const SMALLEST_FRAGMENT_BYTES = 1024
/** Fragments that every message may have, so that small limits leave room. */
const LEAST_FRAGMENTS = 4096

/** Receives what happens on a socket; nothing is called after `closed`, nor after `NodeSocket.close`. */
export interface SocketEvents {
  message(data: Uint8Array, isBinary: boolean): void
  /** The connection was closed or lost. `limit`: the violated one, if that is the reason. */
  closed(reason: string, limit: SocketLimit | null, cause?: unknown): void
}

/** A websocket to a node that watches its own liveness. */
export interface NodeSocket {
  /** Sends a binary message; does nothing when the connection is not open. */
  send(data: Uint8Array): void
  /** Bytes received so far; distinguishes slow transfer of one large message from silence. */
  bytesRead(): number
  /** Lets the node send at most this many bytes more, whatever they are; Infinity while results are wanted. */
  allow(bytes: number): void
  /** Stops and continues reading from the network. While paused, pings are left out. */
  pause(): void
  resume(): void
  /** Ends the connection at once and drops what is still in flight. */
  close(): void
}

/** Opens a connection to a node. Never throws; every failure arrives as `closed`. */
export function openNodeSocket(
  address: NodeAddress,
  timing: ShipTiming,
  maxMessageBytes: number,
  events: SocketEvents,
): NodeSocket {
  const websocket = new WebSocket(address.url, clientOptions(address, timing, maxMessageBytes))
  let transport: Socket | null = null
  let stopPings: (() => void) | null = null
  let finished = false
  let failure: Error | null = null
  let allowedBytes = Infinity

  const finish = (): void => {
    finished = true
    stopPings?.()
    websocket.terminate()
  }
  const lose = (reason: string, cause?: unknown): void => {
    if (finished) return
    finish()
    events.closed(reason, limitCodes[String(errorCode(cause))] ?? null, cause)
  }
  const countBytes = (chunk: Buffer): void => {
    allowedBytes -= chunk.length
    if (allowedBytes >= 0 || finished) return
    finish()
    events.closed('the node sent more than was requested', 'unasked-bytes')
  }
  const bytesRead = (): number => transport?.bytesRead ?? 0

  websocket.on('upgrade', (response) => {
    transport = response.socket
  })
  websocket.on('open', () => {
    if (finished) return
    // Not earlier: a listener starts the flow, and bytes that come with the upgrade would bypass the websocket.
    transport?.on('data', countBytes)
    stopPings = startPings(websocket, bytesRead, timing, lose)
  })
  websocket.on('message', (data, isBinary) => {
    // After the end the parser may still emit messages of the same chunk; they are dropped.
    if (!finished) events.message(data as Buffer, isBinary)
  })
  websocket.on('error', (error) => {
    failure = error
    if (websocket.readyState !== WebSocket.CONNECTING) lose(error.message, error)
  })
  websocket.on('close', (code, reason) => {
    const said = reason.length > 0 ? ` (${reason.toString('utf8', 0, 120)})` : ''
    lose(failure?.message ?? `connection closed with code ${code}${said}`, failure ?? undefined)
  })
  return {
    send(data) {
      if (!finished && websocket.readyState === WebSocket.OPEN) websocket.send(data)
    },
    bytesRead,
    allow(bytes) {
      allowedBytes = bytes
    },
    pause: () => {
      if (!finished) websocket.pause()
    },
    resume: () => {
      if (!finished) websocket.resume()
    },
    close: finish,
  }
}

function clientOptions(address: NodeAddress, timing: ShipTiming, maxMessageBytes: number): ClientOptions {
  const { socketPath } = address
  const parts = Math.max(LEAST_FRAGMENTS, Math.ceil(maxMessageBytes / SMALLEST_FRAGMENT_BYTES))
  return {
    perMessageDeflate: false,
    handshakeTimeout: timing.handshakeTimeoutMs,
    // One result is one message, of many frames or of one.
    maxPayload: maxMessageBytes,
    maxFragments: parts,
    maxBufferedChunks: parts,
    ...(socketPath === null ? {} : { createConnection: () => createConnection(socketPath) }),
  }
}

/**
 * Pings at an interval and reports a peer of which not one byte arrives in time. Any byte counts, since a
 * pong has to wait behind a large message.
 */
function startPings(
  websocket: WebSocket,
  bytesRead: () => number,
  timing: ShipTiming,
  lose: (reason: string) => void,
): () => void {
  let deadline: NodeJS.Timeout | undefined
  const interval = setInterval(() => {
    if (websocket.readyState !== WebSocket.OPEN || websocket.isPaused) return
    const before = bytesRead()
    websocket.ping()
    clearTimeout(deadline)
    deadline = setTimeout(() => {
      // When this process itself was busy, the bytes are waiting to be read: look again after that.
      setImmediate(() => {
        if (bytesRead() === before && !websocket.isPaused)
          lose('the node answers no ping, the connection is dead')
      })
    }, timing.pongTimeoutMs)
  }, timing.pingIntervalMs)
  return () => {
    clearInterval(interval)
    clearTimeout(deadline)
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
