import type { Environment } from '../core/config/environment/index.ts'

/** Environment, output and stop signal of a command. */
export interface CliIo {
  readonly env: Environment
  /** Whether the output is a terminal: log lines are then short text instead of JSON. */
  readonly isTerminal: boolean
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Signal that is aborted when the process is asked to stop. */
  readonly signal: AbortSignal
}

/**
 * Returns a signal that aborts on the first SIGINT, SIGTERM or SIGHUP (closed terminal). A second SIGINT or SIGTERM
 * exits at once; only uncommitted work is lost.
 */
export function listenForStop(): AbortSignal {
  const stopping = new AbortController()
  const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // A closing terminal sends SIGHUP to this process and to npm. npm passes its SIGHUP on to this process,
      // so a second SIGHUP is not a second request to stop.
      if (stopping.signal.aborted && name !== 'SIGHUP') process.exit(128 + numbers[name])
      stopping.abort()
    })
  }
  return stopping.signal
}
