import { distance } from 'fastest-levenshtein'
import type { Environment } from './environment.ts'
import type { ConfigWarning } from '../problems.ts'
import { settingVariables } from './setting-variables.ts'
import { stateVariables } from './state-settings.ts'

/** Maximum edit distance between a misspelled variable and the intended one. */
const MOST_EDITS = 2
/** Minimum length of a variable name that is checked: two edits turn a shorter name into a different word. */
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

/** Variables of other programs of an appliance. Their names resemble names that this program reads. */
const foreign = new Set(['POSTGRES_DB', 'POSTGRES_HOSTS', 'REDIS_URL', 'CHAIN'])

/**
 * Returns a warning for each environment variable whose name is close to, but not equal to, a name that this program
 * reads.
 */
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
