import cluster from 'node:cluster'
import type { Worker as ClusterWorker } from 'node:cluster'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { MetricSnapshot } from '../../core/metrics/index.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'

/** Maximum wait for the metrics of a busy worker, ms. */
const COLLECT_MS = 2_000

/** Callbacks with which a `Worker` reports to the supervisor. */
export interface WorkerListener {
  ready(worker: Worker, port: number): void
  /**
   * Called when the worker process has exited.
   * @param reason error if the worker could not start; undefined otherwise.
   */
  exited(worker: Worker, reason: Error | undefined): void
}

/** A worker process from the point of view of its supervisor. */
export class Worker {
  readonly place: number
  readonly startedMs = performance.now()
  isReady = false
  /** Port on which the worker accepts requests for its socket.io sessions from other workers. */
  sessionPort: number | undefined
  /** Number of checks since the worker last sent a message. */
  silentChecks = 0
  readonly #process: ClusterWorker
  #snapshot: MetricSnapshot = []
  #reason: Error | undefined
  #isListening = false
  #hasEnded = false
  #nextId = 0
  readonly #collecting = new Map<number, () => void>()

  constructor(settings: WorkerSettings, listener: WorkerListener) {
    this.place = settings.place
    this.#process = cluster.fork()
    this.#process.on('message', (message: FromWorker) => {
      if (message.kind === 'listening') this.#say({ kind: 'start', settings })
      else this.#handle(message, listener)
      this.#isListening = true
    })
    this.#process.on('error', (error) => {
      this.#reason ??= new RetryableError('INTERNAL', 'a worker could not be reached', { cause: error })
      // A process that could not be spawned emits no `exit` event.
      if (this.pid === undefined) this.#end('no process', listener)
    })
    this.#process.once('exit', (code: number, signal: string | null) => {
      this.#end(signal === null ? `code ${code}` : `signal ${signal}`, listener)
    })
  }

  get pid(): number | undefined {
    return this.#process.process.pid
  }

  /** Last metrics that the worker has sent. */
  get snapshot(): MetricSnapshot {
    return this.#snapshot
  }

  /**
   * Requests the metrics of the worker. Resolves when the metrics arrive, when the worker exits, or after `COLLECT_MS`.
   */
  async collect(): Promise<void> {
    const id = this.#nextId++
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, COLLECT_MS)
      this.#collecting.set(id, () => {
        clearTimeout(timer)
        resolve()
      })
      this.#say({ kind: 'collect', id })
    })
    this.#collecting.delete(id)
  }

  /**
   * Sends the worker the ports on which the workers accept requests for their socket.io sessions from other workers, by
   * worker number.
   */
  notifyPeers(ports: ReadonlyMap<number, number>): void {
    this.#say({ kind: 'peers', ports })
  }

  stop(): void {
    if (this.#isListening) this.#say({ kind: 'stop' })
    else this.kill()
  }

  kill(): void {
    this.#process.process.kill('SIGKILL')
  }

  #say(message: ToWorker): void {
    if (this.#process.isConnected()) this.#process.send(message)
  }

  #end(how: string, listener: WorkerListener): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    for (const done of this.#collecting.values()) done()
    listener.exited(this, this.isReady ? undefined : (this.#reason ?? endedEarly(how)))
  }

  #handle(message: Exclude<FromWorker, { kind: 'listening' }>, listener: WorkerListener): void {
    this.silentChecks = 0
    if (message.kind === 'ready') {
      this.isReady = true
      this.sessionPort = message.sessionPort
      listener.ready(this, message.port)
    } else if (message.kind === 'metrics') {
      this.#snapshot = message.snapshot
      this.#collecting.get(message.id)?.()
    } else {
      const Kind = message.retryable ? RetryableError : FatalError
      this.#reason = new Kind(message.code, message.message)
    }
  }
}

function endedEarly(how: string): Error {
  return new FatalError('INTERNAL', `a worker exited with ${how} before it could serve`)
}
