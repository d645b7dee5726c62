import { distance } from 'fastest-levenshtein'
import type { Environment } from './environment.ts'
import type { ConfigWarning } from '../problems.ts'
import { settingVariables } from './setting-variables.ts'
import { stateVariables } from './state-settings.ts'

/** Most edits between a misspelled variable and the one that was meant. */
const MOST_EDITS = 2
/** In shorter names two edits are another word. */
const LEAST_LENGTH = 7

const known: readonly string[] = [
  ...settingVariables.flatMap(({ part, name, aliases }) =>
    part === 'connections' ? [name, ...aliases] : [],
  ),
  ...stateVariables.map(({ name }) => name),
  'CONFIG_DIR',
  'LOG_LEVEL',
  'API_WORKERS',
]

/** Variables that other programs of an appliance know, and that look like ours. */
const foreign = new Set(['POSTGRES_DB', 'POSTGRES_HOSTS', 'REDIS_URL', 'CHAIN'])

/** A warning for each variable of the environment whose name is nearly, but not quite, one that is read. */
export function findMisspelledVariables(environment: Environment): ConfigWarning[] {
  const names = Object.keys(environment).filter(
    (name) => name.length >= LEAST_LENGTH && !known.includes(name) && !foreign.has(name),
  )
  return names.flatMap((name) => {
    const meant = known.find((each) => distance(name.toUpperCase(), each) <= MOST_EDITS)
    return meant === undefined
      ? []
      : [{ file: 'environment', path: name, message: `is not read; did you mean ${meant}?` }]
  })
}
