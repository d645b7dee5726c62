import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './client.ts'

/** A client that reads nothing for this long, and for the time that its buffer takes at the least rate, is slow. */
export const STALL_MS = 5_000
/** Least rate of a client that reads, bytes a second: a large message is not read sooner. */
export const LEAST_RATE = 64 * 1024

/** How long a client may take to read what waits for it, ms. */
function readingMs(waitingBytes: number): number {
  return STALL_MS + (1_000 * waitingBytes) / LEAST_RATE
}

/** Whether a client that took something last at a time may still be reading what waits for it. */
export function mayBeReading(takenMs: number, waitingBytes: number): boolean {
  return performance.now() - takenMs < readingMs(waitingBytes)
}

/** Waits until a client has read what was sent; false when it reads nothing, or has left. */
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
