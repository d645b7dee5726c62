import { setTimeout as wait } from 'node:timers/promises'

/** Waits `delayMs`, or until the signal aborts: false in that case. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<boolean> {
  return wait(delayMs, true, { signal }).catch(() => false)
}
