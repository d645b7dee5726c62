import type { Environment } from '../core/config/environment/index.ts'

/** What a command line is connected to. */
export interface CliIo {
  readonly env: Environment
  /** Whether a person reads the output: log lines are then short text instead of JSON. */
  readonly isTerminal: boolean
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal
}

/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP (a closed terminal). A second one ends the process at once, for those who
 * cannot wait; whatever was not committed is then lost, nothing else.
 */
export function listenForStop(): AbortSignal {
  const stopping = new AbortController()
  const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // A terminal that closes sends its signal to the process and to the process that passes it on: no second request.
      if (stopping.signal.aborted && name !== 'SIGHUP') process.exit(128 + numbers[name])
      stopping.abort()
    })
  }
  return stopping.signal
}
