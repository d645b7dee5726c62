import { setImmediate } from 'node:timers/promises'

/** How long writing may delay requests before it yields, ms. */
const STRETCH_MS = 2

/** Calls a function for each of many items, and yields to requests in between. */
export async function forEachYielding<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
  let startedMs = performance.now()
  for (const item of items) {
    task(item)
    if (performance.now() - startedMs < STRETCH_MS) continue
    await setImmediate()
    startedMs = performance.now()
  }
}
