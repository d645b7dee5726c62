import { setImmediate } from 'node:timers/promises'

/** Maximum time in ms to work before yielding to the event loop: bounds the delay of requests. */
const STRETCH_MS = 2

/** Calls a function for each item and yields to the event loop after every STRETCH_MS. */
export async function forEachYielding<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
  let startedMs = performance.now()
  for (const item of items) {
    task(item)
    if (performance.now() - startedMs < STRETCH_MS) continue
    await setImmediate()
    startedMs = performance.now()
  }
}
