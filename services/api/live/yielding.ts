import { setImmediate } from 'node:timers/promises'

/** How long writing may delay requests before it yields, ms. */
const STRETCH_MS = 2

/** Does something for each of many, and lets requests have their turn in between. */
export async function forEachYielding<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
  let startedMs = performance.now()
  for (const item of items) {
    task(item)
    if (performance.now() - startedMs < STRETCH_MS) continue
    await setImmediate()
    startedMs = performance.now()
  }
}
