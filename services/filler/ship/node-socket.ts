import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'
import type { NodeAddress } from './address.ts'
import type { ShipTiming } from './types.ts'

/**
 * The limit that a node violated: size of a message, number of its fragments, or bytes sent before blocks were
 * requested.
 */
export type SocketLimit = 'message-size' | 'message-parts' | 'unasked-bytes'

/** Error codes of the `ws` package for messages above its limits. */
const limitCodes: Readonly<Record<string, SocketLimit>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'message-size',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'message-parts',
}

/**
 * Minimum average size of the fragments (or network chunks) of a message, bytes. The size bounds the number of
 * fragments in a message of the largest size, because each fragment costs an object. Nodes write 4 kB or more at a
 * time.
 */
const SMALLEST_FRAGMENT_BYTES = 1024
/**
 * Lower bound for the maximum number of fragments of a message. Without the bound, a small size limit of messages would
 * allow too few fragments for normal messages.
 */
const LEAST_FRAGMENTS = 4096

/** Callbacks of a socket. None is called after `closed` or `NodeSocket.close`. */
export interface SocketEvents {
  message(data: Uint8Array, isBinary: boolean): void
  /**
   * The connection was closed or lost. `limit` is the limit that the node violated; null if the close has another
   * reason.
   */
  closed(reason: string, limit: SocketLimit | null, cause?: unknown): void
}

/** A websocket to a node. Detects a dead connection by pings. */
export interface NodeSocket {
  /** Sends a binary message; does nothing when the connection is not open. */
  send(data: Uint8Array): void
  /** Bytes received so far; distinguishes slow transfer of one large message from silence. */
  bytesRead(): number
  /**
   * Sets the number of bytes that the node may still send. The connection is closed if the node sends more. `Infinity`
   * allows any number: after a request for blocks, the size of the reply is unknown.
   */
  allow(bytes: number): void
  /** Stops reading from the network. No pings are sent while paused. */
  pause(): void
  resume(): void
  /** Closes the connection at once and drops data in flight. */
  close(): void
}

/** Opens a websocket to a node. Never throws: every failure arrives as `closed`. */
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
    events.closed('the node sent more bytes than were requested', 'unasked-bytes')
  }
  const bytesRead = (): number => transport?.bytesRead ?? 0

  websocket.on('upgrade', (response) => {
    transport = response.socket
  })
  websocket.on('open', () => {
    if (finished) return
    // Attach the `data` listener only after `open`. An earlier listener would start the flow, and bytes that came with
    // the HTTP upgrade response would not reach the websocket.
    transport?.on('data', countBytes)
    stopPings = startPings(websocket, bytesRead, timing, lose)
  })
  websocket.on('message', (data, isBinary) => {
    // After the close, `ws` may still emit messages of the same chunk.
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
    // Nodes send a result as one message of one or many frames. `maxPayload` limits the whole message.
    maxPayload: maxMessageBytes,
    maxFragments: parts,
    maxBufferedChunks: parts,
    ...(socketPath === null ? {} : { createConnection: () => createConnection(socketPath) }),
  }
}

/**
 * Sends pings at an interval and reports a node that sends no byte in time. Any byte counts, because a pong may queue
 * behind a large message.
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
      // Bytes of the node may wait in the socket, because this process was busy. So count the bytes after the event
      // loop has read the socket.
      setImmediate(() => {
        if (bytesRead() === before && !websocket.isPaused)
          lose('the node does not answer pings: the connection is dead')
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
