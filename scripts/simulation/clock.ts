import { AsyncLocalStorage } from 'node:async_hooks'

/** How far the wall clock of one simulation is off, in milliseconds. */
interface WallClock {
  offsetMs: number
}

const clocks = new AsyncLocalStorage<WallClock>()

/** Runs a task with a wall clock of its own, which `task` may set; timers and `performance.now` are not touched. */
export function withOwnClock<T>(task: (clock: WallClock) => Promise<T>): Promise<T> {
  const clock: WallClock = { offsetMs: 0 }
  return clocks.run(clock, () => task(clock))
}

/** From now on `Date.now` asks the clock of the simulation that it is called in. */
export function replaceWallClock(): void {
  const now = Date.now.bind(Date)
  Date.now = () => now() + (clocks.getStore()?.offsetMs ?? 0)
}
