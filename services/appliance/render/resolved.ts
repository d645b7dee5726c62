import type { CleanedEnv } from 'envalid'
import type { containerVariables } from './container-variables.ts'
import type { variables } from './variables.ts'

/** The appliance's own variables, checked and with defaults. */
export type Values = CleanedEnv<typeof variables & typeof containerVariables>

/** Settings of the appliance, resolved from environment variables, `.env` and the operator's files. */
export interface Resolved {
  readonly values: Values
  /** All set variables; former and current names of a setting both have the value. */
  readonly given: Readonly<Record<string, string>>
  /** Whether the chain is the bundled demo chain. */
  readonly isDemo: boolean
  /** Profiles of the compose file that `COMPOSE_PROFILES` turns on. */
  readonly profiles: readonly string[]
}
