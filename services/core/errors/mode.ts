/**
 * Run mode of the program, which decides how an operator can fix an error: everything in one process (`npm start`),
 * the containers of docker-compose.yml, or processes started with configuration files.
 */
export type RunMode = 'standalone' | 'appliance' | 'process'

/** Name of each run mode in the documentation. */
export const runModes = {
  standalone: '`npm start`',
  appliance: 'containers',
  process: 'own processes',
} as const satisfies Record<RunMode, string>
