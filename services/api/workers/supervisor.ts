import type { Logger } from '../../core/log/index.ts'
import { createMetrics, mergeCounts, renderSnapshots } from '../../core/metrics/index.ts'
import type { MetricSnapshot } from '../../core/metrics/index.ts'
import { Backoff } from '../../core/retry/index.ts'
import type { WorkerSettings } from './messages.ts'
import { Worker } from './worker.ts'

/** Delay before an exited worker is restarted, ms. The delay begins with `firstMs` and doubles up to `longestMs`. */
const restartPauses = { firstMs: 500, longestMs: 30_000 }
/** After a worker has run for this time, ms, the restart delay begins with `firstMs` again. */
const LASTING_MS = 60_000
/** Interval of the checks whether workers respond, ms. */
const ASK_MS = 15_000
/**
 * The supervisor kills a worker after this number of unanswered checks. A limit in seconds would kill healthy workers
 * after a pause of all processes, such as a suspended machine.
 */
const SILENT_CHECKS = 4
/** A stopping worker is killed after this time, ms. The requests of the worker have ten seconds to finish. */
const STOP_MS = 15_000
/** The supervisor exits if no worker serves and this number of starts in sequence have failed. */
const HOPELESS_STARTS = 3

/** Slot of one numbered worker: its current process and its restart state. */
interface Place {
  readonly settings: WorkerSettings
  worker: Worker | undefined
  timer: NodeJS.Timeout | undefined
  readonly pauses: Backoff
}

export interface SupervisorOptions {
  readonly workers: readonly WorkerSettings[]
  readonly logger: Logger
}

/** Starts worker processes, restarts them if they exit, and stops them. */
export class Supervisor {
  readonly #places: Place[]
  readonly #logger: Logger
  readonly #metrics = createMetrics('api', { ofProcess: false })
  /** Sum of the metrics of exited workers. */
  #exitedMetrics: Promise<MetricSnapshot> = Promise.resolve([])
  #isStopping = false
  #hasServed = false
  #failedStarts = 0
  #watch: NodeJS.Timeout | undefined
  #settle: { resolve: () => void; reject: (reason: Error) => void } | undefined
  #becameReady: (port: number) => void = () => undefined

  constructor({ workers, logger }: SupervisorOptions) {
    this.#places = workers.map((settings) => ({
      settings,
      worker: undefined,
      timer: undefined,
      pauses: new Backoff(restartPauses),
    }))
    this.#logger = logger
    this.#metrics.count('pronghorn_worker_restarts_total', {}, 0)
  }

  /**
   * Runs the workers until `signal` aborts.
   *
   * @param onReady called with the port when a worker begins to serve.
   * @throws the start error of a worker if no worker can start.
   */
  async run(signal: AbortSignal, onReady: (port: number) => void): Promise<void> {
    this.#becameReady = onReady
    const killAll = () => {
      for (const { worker } of this.#places) worker?.kill()
    }
    // Kill the workers if the supervisor exits.
    process.once('exit', killAll)
    const stop = () => void this.#stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const settled = new Promise<void>((resolve, reject) => {
        this.#settle = { resolve, reject }
      })
      for (const place of this.#places) this.#start(place)
      this.#watch = setInterval(() => this.#look(), ASK_MS)
      if (signal.aborted) stop()
      await settled
    } finally {
      signal.removeEventListener('abort', stop)
      process.removeListener('exit', killAll)
      clearInterval(this.#watch)
      for (const { timer } of this.#places) clearTimeout(timer)
    }
  }

  /** Renders the metrics of all workers, including exited workers, in the Prometheus text format. */
  async render(): Promise<string> {
    const workers = this.#workers().filter(({ isReady }) => isReady)
    await Promise.all(workers.map((worker) => worker.collect()))
    this.#metrics.set('pronghorn_workers', {}, this.#workers().filter(({ isReady }) => isReady).length)
    const exited = await this.#exitedMetrics
    const now = this.#workers().map(({ snapshot }) => snapshot)
    return renderSnapshots([await this.#metrics.snapshot(), exited, ...now])
  }

  #workers(): Worker[] {
    return this.#places.flatMap(({ worker }) => (worker ? [worker] : []))
  }

  #start(place: Place): void {
    place.timer = undefined
    place.worker = new Worker(place.settings, {
      ready: (worker, port) => {
        this.#hasServed = true
        this.#failedStarts = 0
        this.#logger.info({ worker: worker.place, workerPid: worker.pid }, 'a worker serves requests')
        this.#becameReady(port)
        this.#notifyPeers()
      },
      exited: (worker, reason) => {
        this.#noteEnd(place, worker, reason)
      },
    })
  }

  #noteEnd(place: Place, worker: Worker, reason: Error | undefined): void {
    place.worker = undefined
    this.#addExited(worker.snapshot)
    this.#notifyPeers()
    if (this.#isStopping) {
      if (this.#workers().length === 0) this.#settle?.resolve()
      return
    }
    if (reason) this.#failedStarts++
    if (reason && this.#isHopeless()) {
      this.#settle?.reject(reason)
      return
    }
    if (performance.now() - worker.startedMs > LASTING_MS) place.pauses.reset()
    const pauseMs = place.pauses.nextDelayMs()
    this.#logger.warn(
      { worker: worker.place, workerPid: worker.pid, pauseMs },
      'a worker exited and is restarted',
    )
    this.#metrics.count('pronghorn_worker_restarts_total', {})
    place.timer = setTimeout(() => {
      this.#start(place)
    }, pauseMs)
  }

  /** Sends every worker the ports on which the other workers accept requests for their sessions. */
  #notifyPeers(): void {
    const ready = this.#workers().filter(({ isReady }) => isReady)
    const ports = new Map(
      ready.flatMap(({ place, sessionPort }) =>
        sessionPort === undefined ? [] : [[place, sessionPort] as const],
      ),
    )
    for (const worker of ready) worker.notifyPeers(ports)
  }

  /** Whether no worker serves or starts, and too many starts have failed. */
  #isHopeless(): boolean {
    if (this.#workers().length > 0) return false
    const starts = this.#places.length
    return this.#failedStarts >= (this.#hasServed ? Math.max(HOPELESS_STARTS, starts) : starts)
  }

  #addExited(snapshot: MetricSnapshot): void {
    this.#exitedMetrics = this.#exitedMetrics.then((before) => mergeCounts([before, snapshot]))
  }

  #look(): void {
    for (const worker of this.#workers()) {
      if (worker.isReady && worker.silentChecks >= SILENT_CHECKS) {
        this.#logger.error(
          { worker: worker.place, workerPid: worker.pid },
          'a worker is unresponsive and is killed',
        )
        worker.kill()
      } else {
        worker.silentChecks++
        void worker.collect()
      }
    }
  }

  async #stop(): Promise<void> {
    this.#isStopping = true
    for (const { timer } of this.#places) clearTimeout(timer)
    const workers = this.#workers()
    if (workers.length === 0) this.#settle?.resolve()
    for (const worker of workers) worker.stop()
    await new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())
    for (const worker of this.#workers()) worker.kill()
  }
}
