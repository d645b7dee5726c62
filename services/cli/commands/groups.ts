import { Option } from 'commander'

/** Headings of the list of commands in `pronghorn --help`. */
export const tryGroup = 'Try it:'
export const runGroup = 'Run it:'
export const careGroup = 'Look after it:'
export const applianceGroup = 'In the appliance:'

/** `--config DIR`. */
export function configOption(): Option {
  return new Option(
    '-c, --config <dir>',
    'directory of the configuration files (default: CONFIG_DIR, then ./config)',
  )
}
