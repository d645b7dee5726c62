import type { Environment } from '../core/config/environment/index.ts'
import type { RunMode } from '../core/errors/index.ts'

/** Set in the image of the appliance. */
const MODE_VARIABLE = 'PRONGHORN_MODE'

/**
 * The mode of a command line. Commands of a data directory (`standalone`, and `--data` of others) belong to `npm start`;
 * the image of the containers says that it is one; everything else is a process of the operator's own.
 */
export function chooseMode(args: readonly string[], env: Environment): RunMode {
  const [command] = args
  const hasDataDirectory = command !== 'devchain' && args.some((arg) => /^--data(=|$)/.test(arg))
  if (command === 'standalone' || hasDataDirectory) return 'standalone'
  return env[MODE_VARIABLE] === 'appliance' ? 'appliance' : 'process'
}
