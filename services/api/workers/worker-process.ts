import { FatalError, PronghornError, describeError } from '../../core/errors/index.ts'
import { createLogger } from '../../core/log/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { createMetrics } from '../../core/metrics/index.ts'
import { startApi } from '../start.ts'
import type { RunningApi } from '../start.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'

/**
 * Main object of a worker process. Several worker processes serve the same port. A worker exits with its supervisor.
 */
class WorkerProcess {
  readonly #metrics = createMetrics('api')
  #logger: Logger | undefined
  #running: Promise<RunningApi> | undefined
  #isStopping = false
  #peerPorts: ReadonlyMap<number, number> = new Map()

  start(settings: WorkerSettings): void {
    const { place, config, logLevel, pretty } = settings
    const logger = createLogger({ name: 'api', level: logLevel, pretty }).child({ worker: place })
    this.#logger = logger
    this.#running = startApi({
      ...{ config, logger, metrics: this.#metrics, isWarmedUp: true },
      peers: { place, portOf: (other) => this.#peerPorts.get(other) },
    })
    this.#running.then(
      ({ port, sessionPort }) => {
        say({ kind: 'ready', port, sessionPort })
      },
      (error: unknown) => {
        this.#fail(error)
      },
    )
  }

  notePeers(ports: ReadonlyMap<number, number>): void {
    this.#peerPorts = ports
  }

  collect(id: number): void {
    void this.#metrics.snapshot().then((snapshot) => {
      say({ kind: 'metrics', id, snapshot })
    })
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    // A worker that is still starting has no running requests, so do not wait for its start.
    const running = await Promise.race([this.#running, Promise.resolve(undefined)]).catch(() => undefined)
    await running?.close()
    process.exit(0)
  }

  #fail(error: unknown): void {
    if (this.#isStopping) return
    const isKnown = error instanceof PronghornError
    this.#logger?.error({ err: error }, `the worker cannot start: ${describeError(error)}`)
    const message: FromWorker = {
      kind: 'failed',
      code: isKnown ? error.code : 'INTERNAL',
      message: error instanceof Error ? error.message : String(error),
      retryable: isKnown && error.retryable,
    }
    say(message, () => process.exit(1))
  }
}

/**
 * Sends a message to the supervisor. If the supervisor has exited, sending fails, which does no harm because this
 * process exits as well.
 */
function say(message: FromWorker, then: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, undefined, undefined, then)
  else then()
}

if (!process.send) {
  throw new FatalError('INTERNAL', 'this file is the entry point of a worker and cannot be run directly')
}
const worker = new WorkerProcess()
process.on('message', (message: ToWorker) => {
  if (message.kind === 'start') worker.start(message.settings)
  else if (message.kind === 'collect') worker.collect(message.id)
  else if (message.kind === 'peers') worker.notePeers(message.ports)
  else void worker.stop()
})
for (const end of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.on(end, () => void worker.stop())
say({ kind: 'listening' })
