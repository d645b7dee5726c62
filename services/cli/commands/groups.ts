import { Option } from 'commander'

/** Headings of the command list in `pronghorn --help`. */
export const TRY_GROUP = 'Try it:'
export const RUN_GROUP = 'Run it:'
export const CARE_GROUP = 'Look after it:'
export const APPLIANCE_GROUP = 'In the appliance:'

/** Creates the option `--config DIR`. */
export function configOption(): Option {
  return new Option(
    '-c, --config <dir>',
    'directory of the configuration files (default: CONFIG_DIR, then ./config)',
  )
}
