import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'
import type { NodeAddress } from './address.ts'
import type { ShipTiming } from './types.ts'

/** Code by which `ws` reports a message above `maxPayload`. */
const tooLargeCode = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

/** Receives what happens on a socket; nothing is called after `closed`, nor after `NodeSocket.close`. */
export interface SocketEvents {
  message(data: Uint8Array, isBinary: boolean): void
  /** The connection ended by itself. `tooLarge`: because of a message above the limit. */
  closed(reason: string, tooLarge: boolean, cause?: unknown): void
}

/** A websocket to a node that watches its own liveness. */
export interface NodeSocket {
  /** Sends a binary message; does nothing when the connection is not open. */
  send(data: Uint8Array): void
  /** Bytes received so far; tells slow transfer of one large message from silence. */
  bytesRead(): number
  /** Ends the connection at once and drops what is still on its way. */
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

  const finish = (): void => {
    finished = true
    stopPings?.()
    websocket.terminate()
  }
  const lose = (reason: string, cause?: unknown): void => {
    if (finished) return
    finish()
    events.closed(reason, errorCode(cause) === tooLargeCode, cause)
  }
  const bytesRead = (): number => transport?.bytesRead ?? 0

  websocket.on('upgrade', (response) => {
    transport = response.socket
  })
  websocket.on('open', () => {
    if (!finished) stopPings = startPings(websocket, bytesRead, timing, lose)
  })
  websocket.on('message', (data, isBinary) => {
    // After an end the parser may still emit messages of the same chunk; they belong to nobody.
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
    close: finish,
  }
}

function clientOptions(address: NodeAddress, timing: ShipTiming, maxMessageBytes: number): ClientOptions {
  const { socketPath } = address
  return {
    perMessageDeflate: false,
    handshakeTimeout: timing.handshakeTimeoutMs,
    // One result is one message, of many frames or of one; its size is the only limit.
    maxPayload: maxMessageBytes,
    maxFragments: 0,
    maxBufferedChunks: 0,
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
    if (websocket.readyState !== WebSocket.OPEN) return
    const before = bytesRead()
    websocket.ping()
    clearTimeout(deadline)
    deadline = setTimeout(() => {
      // When this process itself was busy, the bytes are waiting to be read: look again after that.
      setImmediate(() => {
        if (bytesRead() === before) lose('the node answers no ping, the connection is dead')
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
