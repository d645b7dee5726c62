import { cleanEnv } from 'envalid'
import type { CleanedEnv } from 'envalid'
import { distance } from 'fastest-levenshtein'
import { DEMO_CHAIN_ID } from '../../core/chain-node/index.ts'
import { ConfigError, nearestOf, showFound } from '../../core/config/index.ts'
import { startBlockProblem } from '../../core/config/schema/index.ts'
import type { ConfigProblem } from '../../core/config/index.ts'
import type { Environment } from '../../core/config/environment/index.ts'
import { demoPreset, presets } from './presets.ts'
import { splitList, variables } from './variables.ts'

/** The appliance's variables, checked and with defaults. */
export type Values = CleanedEnv<typeof variables>

/** What the environment asks for. */
export interface Resolved {
  readonly values: Values
  /** The chain is the bundled one. */
  readonly isDemo: boolean
  /** Profiles of the compose file that `COMPOSE_PROFILES` turns on. */
  readonly profiles: readonly string[]
}

/** Variables of the compose files and of containers; they change nothing of what is rendered. */
const foreign = new Set([
  ...['CHAIN', 'DEMO_CHAIN', 'HOSTNAME', 'LOG_LEVEL', 'IPV6_SUBNET'],
  ...['COMPOSE_FILE', 'COMPOSE_PROFILES', 'COMPOSE_PROJECT_NAME'],
  ...['PRONGHORN_IMAGE', 'POSTGRES_IMAGE', 'REDIS_IMAGE', 'NGINX_IMAGE', 'HASURA_IMAGE', 'BACKUP_IMAGE'],
  ...['FILLER_MEMORY', 'API_MEMORY'],
  ...['POSTGRES_CPUS', 'FILLER_CPUS', 'API_CPUS', 'NGINX_CPUS', 'BACKUP_CPUS'],
  ...['STATE_TOKEN_TTL_SECONDS', 'STATE_TOKENS_PER_MINUTE'],
  ...['BACKUP_DIR', 'BACKUP_HOURS', 'BACKUP_AT', 'BACKUP_KEEP', 'BACKUP_KEEP_WEEKS', 'BACKUP_CHECK_DAYS'],
  ...['BACKUP_HOOK', 'BACKUP_JOBS'],
])
/** Whatever begins like this is meant for the appliance, so a name that is not known is a mistake. */
const OURS = /^(?:CHAIN|RATE_LIMIT|TLS|ACME|POSTGRES|REDIS|GRAPHQL)_/
/** So is a name within so few edits of a known one. */
const MISSPELT_EDITS = 2

/**
 * Reads the variables: the environment above the preset that `CHAIN` names, above the defaults. Without any fact about
 * a chain, and where `DEMO_CHAIN` is true, the chain is the demo chain.
 * @throws ConfigError with every problem, each under its variable.
 */
export function resolveVariables(environment: Environment): Resolved {
  const given = Object.fromEntries(
    Object.entries(environment).filter((pair): pair is [string, string] => (pair[1] ?? '') !== ''),
  )
  const problems: ConfigProblem[] = [...unknownNames(given)]
  const preset = choosePreset(given, problems)
  let values: Values | undefined
  try {
    values = cleanEnv({ ...preset.values, ...given }, variables, {
      reporter: ({ errors }) => {
        for (const [name, error] of Object.entries(errors)) {
          problems.push(problemOf(name, given[name], error))
        }
        if (problems.length > 0) throw new ConfigError(problems)
      },
    })
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError([
      { file: 'environment', path: '', found: String(error), allowed: 'a usable environment' },
    ])
  }
  checkTogether(values, given, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return { values, isDemo: preset.isDemo, profiles: listProfiles(given) }
}

function problemOf(name: string, found: string | undefined, error: Error): ConfigProblem {
  const isMissing = found === undefined
  const description = variables[name as keyof typeof variables] as { desc?: string } | undefined
  const allowed = isMissing
    ? `a value: ${description?.desc ?? 'it has no default'} CHAIN=${Object.keys(presets).join(' | ')} sets what is known of a chain`
    : error.message
  return { file: 'environment', path: name, found: showFound([name], found), allowed }
}

function unknownNames(given: Readonly<Record<string, string>>): ConfigProblem[] {
  const known = [...Object.keys(variables), ...foreign]
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .filter((name) => OURS.test(name) || distance(name, nearestOf(name, known)) <= MISSPELT_EDITS)
    .map((name) => ({
      file: 'environment',
      path: name,
      found: 'an unknown variable',
      allowed: `the nearest known variable is ${nearestOf(name, known)}`,
    }))
}

interface ChosenPreset {
  readonly values: Readonly<Record<string, string>>
  readonly isDemo: boolean
}

function choosePreset(given: Readonly<Record<string, string>>, problems: ConfigProblem[]): ChosenPreset {
  const name = given.CHAIN
  if (name !== undefined) {
    const preset = presets[name]
    if (preset) return { values: preset, isDemo: false }
    const allowed = `one of ${Object.keys(presets).join(', ')}`
    problems.push({ file: 'environment', path: 'CHAIN', found: JSON.stringify(name), allowed })
  }
  const facts = ['CHAIN', 'CHAIN_ID', 'CHAIN_HTTP', 'CHAIN_SHIP'].filter((each) => given[each] !== undefined)
  if (facts.length > 0 || given.DEMO_CHAIN !== 'true') return { values: {}, isDemo: false }
  return { values: { ...demoPreset, CHAIN_ID: DEMO_CHAIN_ID }, isDemo: true }
}

/** Checks what no single variable can show. */
function checkTogether(
  values: Values,
  given: Readonly<Record<string, string>>,
  problems: ConfigProblem[],
): void {
  const refuse = (path: keyof typeof variables, found: unknown, allowed: string) =>
    problems.push({ file: 'environment', path, found: showFound([path], found), allowed })
  if (values.HTTP_PORT === values.HTTPS_PORT) {
    refuse('HTTPS_PORT', values.HTTPS_PORT, `another port than HTTP_PORT, which is ${values.HTTP_PORT}`)
  }
  const start = values.START_BLOCK_OVERRIDE
    ? undefined
    : startBlockProblem(values.CHAIN_ID, values.START_BLOCK, 'START_BLOCK_OVERRIDE=true')
  if (start !== undefined) refuse('START_BLOCK', values.START_BLOCK, start)
  for (const name of ['CHAIN_HTTP', 'CHAIN_SHIP'] as const) {
    if (splitList(values[name]).some(isExample))
      refuse(name, values[name], 'the address of your chain node, not an example')
  }
  if (values.TLS_MODE === 'acme' && !values.DOMAIN.includes('.')) {
    refuse('DOMAIN', values.DOMAIN, 'a public host name, because TLS_MODE is acme')
  }
  if (values.TLS_MODE === 'acme' && !values.ACME_EMAIL.includes('@')) {
    refuse('ACME_EMAIL', values.ACME_EMAIL, 'an e-mail address, because TLS_MODE is acme')
  }
  if (values.TLS_MODE === 'acme' && !listProfiles(given).includes('acme')) {
    problems.push({
      file: 'environment',
      path: 'COMPOSE_PROFILES',
      found: JSON.stringify(given.COMPOSE_PROFILES ?? ''),
      allowed: 'a list with acme, because TLS_MODE is acme',
    })
  }
  if (values.ASSETS_ACCOUNT === 'none') {
    refuse('ASSETS_ACCOUNT', 'none', 'an account name: every other family needs the assets contract')
  }
  if (values.MARKET_ACCOUNT !== 'none' && values.ORACLE_ACCOUNT === 'none') {
    refuse(
      'ORACLE_ACCOUNT',
      'none',
      'an account name, because the market needs the oracle; or MARKET_ACCOUNT=none',
    )
  }
}

function listProfiles(given: Readonly<Record<string, string>>): string[] {
  return splitList(given.COMPOSE_PROFILES ?? '')
}

/** Names that RFC 2606 reserves for documents; no node has one. */
function isExample(address: string): boolean {
  return /(?:^|\.)example(?:\.(?:org|com|net))?$/i.test(new URL(address).hostname)
}
