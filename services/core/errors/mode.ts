/**
 * How the program runs, which decides what a person can do about an error: everything in one process (`npm start`), the
 * containers of docker-compose.yml, or processes that an operator starts with configuration files.
 */
export type RunMode = 'standalone' | 'appliance' | 'process'

/** Every mode, with the name that documents give it. */
export const runModes = {
  standalone: '`npm start`',
  appliance: 'containers',
  process: 'own processes',
} as const satisfies Record<RunMode, string>
