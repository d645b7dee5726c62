import type { Environment } from '../core/config/environment/index.ts'
import type { RunMode } from '../core/errors/index.ts'

/** Environment variable that the appliance's image sets. */
const MODE_VARIABLE = 'PRONGHORN_MODE'

/**
 * Finds out how this process was started, for the advice in error messages. `standalone` and commands with `--data`
 * belong to `npm start`; the appliance's image sets PRONGHORN_MODE; anything else is a process that the operator runs.
 */
export function chooseMode(args: readonly string[], env: Environment): RunMode {
  const [command] = args
  const hasDataDirectory = command !== 'devchain' && args.some((arg) => /^--data(=|$)/.test(arg))
  if (command === 'standalone' || hasDataDirectory) return 'standalone'
  return env[MODE_VARIABLE] === 'appliance' ? 'appliance' : 'process'
}
