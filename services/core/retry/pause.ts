import { setTimeout as wait } from 'node:timers/promises'

/** Waits `delayMs`; resolves to false at once if the signal aborts. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<boolean> {
  return wait(delayMs, true, { signal }).catch(() => false)
}

/** Resolves when the signal aborts; at once if the signal has already aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
