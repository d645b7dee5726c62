import { CommanderError } from 'commander'
import { ConfigError } from '../core/config/index.ts'
import { PronghornError } from '../core/errors/index.ts'

/** Exit codes and their meanings. `--help` prints this table. */
export const exitCodes = {
  ok: [0, 'done, or stopped when asked to'],
  failed: [1, 'failed; an operator has to act'],
  usage: [2, 'the command line cannot be understood'],
  config: [3, 'the configuration has problems; each is listed'],
  temporary: [75, 'failed temporarily; start the command again'],
} as const satisfies Record<string, readonly [number, string]>

/** Exit code of the program after a command has thrown this error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok[0] : exitCodes.usage[0]
  if (error instanceof ConfigError) return exitCodes.config[0]
  if (error instanceof PronghornError) {
    if (error.code === 'USAGE') return exitCodes.usage[0]
    return error.retryable ? exitCodes.temporary[0] : exitCodes.failed[0]
  }
  return exitCodes.failed[0]
}
