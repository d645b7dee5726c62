import { AsyncLocalStorage } from 'node:async_hooks'

/** Difference between the wall clock of a simulation and the real clock, ms. */
interface WallClock {
  offsetMs: number
}

const clocks = new AsyncLocalStorage<WallClock>()

/** Runs a task with a wall clock of its own, which the task may set. Timers and `performance.now` stay real. */
export function withOwnClock<T>(task: (clock: WallClock) => Promise<T>): Promise<T> {
  const clock: WallClock = { offsetMs: 0 }
  return clocks.run(clock, () => task(clock))
}

/** Replaces `Date.now` by the clock of the running simulation. */
export function replaceWallClock(): void {
  const now = Date.now.bind(Date)
  Date.now = () => now() + (clocks.getStore()?.offsetMs ?? 0)
}
