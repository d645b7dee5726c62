import { Option } from 'commander'

/** Headings of the command list in `pronghorn --help`. */
export const TRY_GROUP = 'Try Pronghorn:'
export const RUN_GROUP = 'Run the services:'
export const CARE_GROUP = 'Operate and check:'
export const APPLIANCE_GROUP = 'For the containers of the appliance:'

/** Creates the option `--config DIR`. */
export function configOption(): Option {
  return new Option(
    '-c, --config <dir>',
    'directory of the configuration files (default: CONFIG_DIR, then ./config)',
  )
}
