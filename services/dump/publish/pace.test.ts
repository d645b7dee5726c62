import { expect, it } from 'vitest'
import { Pace } from './pace.ts'

/** Keeps the processor busy. */
function work(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

async function restAfter(share: number, workMs: number, signal = new AbortController().signal) {
  const pace = new Pace(share, signal)
  work(workMs)
  const startedMs = performance.now()
  await pace.rest()
  return performance.now() - startedMs
}

it('a publication session with a time share of 20 % pauses four times as long as the session worked', async () => {
  const restedMs = await restAfter(0.2, 40)
  expect(restedMs).toBeGreaterThanOrEqual(159)
})

it('a publication session does not pause after little work, nor with a time share of 100 %', async () => {
  // If a session may work 0.1 % of the time, the pause after 5 ms of work would last 5 seconds.
  expect(await restAfter(0.001, 5)).toBeLessThan(2_000)
  expect(await restAfter(1, 40)).toBeLessThan(2_000)
})

it('a stop signal ends the pause of a publication', async () => {
  const stop = new AbortController()
  setTimeout(() => {
    stop.abort()
  }, 20)
  // Without the stop signal, the pause would last 40 seconds.
  expect(await restAfter(0.001, 40, stop.signal)).toBeLessThan(20_000)
})
