import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../core/log/index.ts'
import type { WorkerSettings } from './messages.ts'
import type { WorkerListener } from './worker.ts'

const CHECK_MS = 15_000

/** A worker that serves but never sends a message. */
class SilentWorker {
  readonly place = 1
  readonly snapshot = []
  readonly isReady = true
  readonly startedMs = performance.now()
  silentChecks = 0
  readonly #listener: WorkerListener

  constructor(_settings: WorkerSettings, listener: WorkerListener) {
    this.#listener = listener
    workers.push(this)
  }

  readonly collect = vi.fn(() => Promise.resolve(undefined))
  readonly kill = vi.fn()
  readonly notifyPeers = vi.fn()

  stop(): void {
    this.#listener.exited(this as never, undefined)
  }
}

const workers: SilentWorker[] = []
beforeEach(() => {
  vi.resetModules()
  vi.doMock('./worker.ts', () => ({ Worker: SilentWorker }))
  vi.useFakeTimers()
})
afterEach(() => {
  vi.doUnmock('./worker.ts')
  vi.resetModules()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

it('the supervisor kills a worker that answers no health checks, but not after a pause of the supervisor itself', async () => {
  const { Supervisor } = await import('./supervisor.ts')
  const supervisor = new Supervisor({
    workers: [{ place: 1 } as WorkerSettings],
    logger: createLogger({ name: 'api', level: 'fatal' }),
  })
  const abort = new AbortController()
  const ended = supervisor.run(abort.signal, () => undefined)
  const [worker] = workers
  const now = performance.now()
  // All processes were paused (a suspended machine, say): the clock advances without timers firing.
  vi.spyOn(performance, 'now').mockReturnValue(now + 10 * CHECK_MS)
  vi.advanceTimersByTime(CHECK_MS)
  expect(worker!.collect).toHaveBeenCalledTimes(1)
  expect(worker!.kill).not.toHaveBeenCalled()
  vi.advanceTimersByTime(5 * CHECK_MS)
  expect(worker!.kill).toHaveBeenCalled()
  abort.abort()
  await ended
})
