import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './client.ts'

/** A client is slow if it reads nothing for this time, ms, plus the time that its buffered bytes take at LEAST_RATE. */
export const STALL_MS = 5_000
/**
 * Lowest expected reading rate, bytes a second. A client with a slow connection can read a large message at this rate
 * without being disconnected.
 */
export const LEAST_RATE = 64 * 1024

/** Maximum time that a client may take to read `waitingBytes` buffered bytes, ms. */
function readingMs(waitingBytes: number): number {
  return STALL_MS + (1_000 * waitingBytes) / LEAST_RATE
}

/**
 * Whether a client may still be reading its buffered bytes.
 * @param takenMs time when the client last read something.
 */
export function mayBeReading(takenMs: number, waitingBytes: number): boolean {
  return performance.now() - takenMs < readingMs(waitingBytes)
}

/** Waits until a client has read its buffered bytes. Returns false if the client stops reading or disconnects. */
export async function isRead(connection: Connection): Promise<boolean> {
  const drained = connection.drained().then(() => true)
  for (let waitingBytes = Infinity; connection.waitingBytes < waitingBytes;) {
    ;({ waitingBytes } = connection)
    const waiting = new AbortController()
    const late = sleep(readingMs(waitingBytes), false, { signal: waiting.signal })
    const isDrained = await Promise.race([drained, late.catch(() => false)])
    waiting.abort()
    if (isDrained) return true
  }
  return false
}
