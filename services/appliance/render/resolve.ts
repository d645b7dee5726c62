import { cleanEnv } from 'envalid'
import type { CleanedEnv } from 'envalid'
import { DEMO_CHAIN_ID } from '../../core/chain-node/index.ts'
import { ConfigError, configFiles, showFound } from '../../core/config/index.ts'
import { startBlockProblem } from '../../core/config/schema/index.ts'
import type { ConfigProblem } from '../../core/config/index.ts'
import {
  checkVariable,
  parseVariable,
  readStateSettings,
  settingVariables,
  valueAt,
} from '../../core/config/environment/index.ts'
import type { Environment, SettingVariable } from '../../core/config/environment/index.ts'
import { containerVariables } from './container-variables.ts'
import { noOwnFiles, parseOwnFile } from './own-files.ts'
import type { OwnFiles } from './own-files.ts'
import { demoPreset, presets } from './presets.ts'
import { BUNDLED_POSTGRES, BUNDLED_REDIS, splitList, variables } from './variables.ts'

/** The appliance's own variables, checked and with defaults. */
export type Values = CleanedEnv<typeof variables>

/** What the environment asks for. */
export interface Resolved {
  readonly values: Values
  /** What is set, former and present names of the same setting alike. */
  readonly given: Readonly<Record<string, string>>
  /** The chain is the bundled one. */
  readonly isDemo: boolean
  /** Profiles of the compose file that `COMPOSE_PROFILES` turns on. */
  readonly profiles: readonly string[]
}

type Given = Record<string, string>

/**
 * Reads the variables: the environment above the preset that `CHAIN` names, above the defaults. Without any fact about
 * a chain, and where `DEMO_CHAIN` is true, the chain is the demo chain. What a connection file of the operator says
 * counts where its variable is not set.
 * @throws ConfigError with every problem, each under its variable.
 */
export function resolveVariables(environment: Environment, own: OwnFiles = noOwnFiles): Resolved {
  const set = Object.fromEntries(
    Object.entries(environment).filter((pair): pair is [string, string] => (pair[1] ?? '') !== ''),
  )
  const problems: ConfigProblem[] = []
  const given = { ...valuesOfOwn(own, set), ...withBothNames(set, problems) }
  const preset = choosePreset(given, problems)
  let values: Values | undefined
  try {
    const all = { ...variables, ...containerVariables }
    values = cleanEnv({ ...preset.values, ...given }, all, {
      reporter: ({ errors }) => {
        for (const [name, error] of Object.entries(errors)) problems.push(problemOf(name, set, error))
      },
    })
  } catch (error) {
    throw new ConfigError([
      { file: 'environment', path: '', found: String(error), allowed: 'a usable environment' },
    ])
  }
  problems.push(...readStateSettings(given).problems, ...checkSettings(given, problems))
  // Values that were refused have no meaning together.
  if (problems.length > 0) throw new ConfigError(problems)
  checkTogether(values, given, problems)
  checkOwn(set, own, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return { values, given, isDemo: preset.isDemo, profiles: listProfiles(given) }
}

const isOfAppliance = (name: string): name is keyof typeof variables => name in variables

/** The names of a setting that are set, the present one first. */
function namesOf({ name, aliases }: SettingVariable, given: Readonly<Given>): string[] {
  return [name, ...aliases].filter((each) => given[each] !== undefined)
}

/** Gives the appliance's own variables the value of another name of the same setting. */
function withBothNames(set: Readonly<Given>, problems: ConfigProblem[]): Given {
  const given = { ...set }
  for (const setting of settingVariables) {
    const [name, other] = namesOf(setting, set)
    if (name === undefined) continue
    if (other !== undefined && set[name] !== set[other]) {
      const found = `${showFound([other], set[other])} while ${name} is ${showFound([name], set[name])}`
      problems.push({ file: 'environment', path: other, found, allowed: 'one of the two: they set the same' })
    }
    const wanted = [setting.name, ...setting.aliases].find(isOfAppliance)
    if (wanted !== undefined) given[wanted] = set[name]!
  }
  return given
}

/** What the variables of the three files hold, checked by the schemas. */
function checkSettings(given: Readonly<Given>, known: readonly ConfigProblem[]): ConfigProblem[] {
  return settingVariables.flatMap((setting) => {
    const [name] = namesOf(setting, given)
    if (name === undefined || isOfAppliance(name) || known.some(({ path }) => path === name)) return []
    if ([setting.name, ...setting.aliases].some(isOfAppliance)) return []
    const family = setting.steps.find((step) => typeof step === 'object')?.family.toUpperCase() ?? ''
    if (given[`${family}_ACCOUNT`] === 'none') {
      const allowed = `nothing: ${family}_ACCOUNT=none leaves the family out`
      return [{ file: 'environment', path: name, found: showFound([name], given[name]), allowed }]
    }
    return checkVariable(setting, name, given[name]!)
  })
}

/** Variables of the appliance that a connection file says where they are not set. */
function valuesOfOwn(own: OwnFiles, set: Readonly<Given>): Given {
  const text = own.texts.get('connections')
  if (text === undefined) return {}
  const content = parseOwnFile(
    'connections',
    text,
    (name) => set[name] ?? (isOfAppliance(name) ? standardOf(name) : undefined) ?? '0',
    [],
  )
  const found: Given = {}
  for (const { part, steps, name, aliases } of settingVariables) {
    const wanted = [name, ...aliases].find(isOfAppliance)
    if (part !== 'connections' || wanted === undefined) continue
    const value = valueAt(content, steps)
    if (typeof value === 'string' || typeof value === 'number') found[wanted] = String(value)
    else if (Array.isArray(value) && wanted === 'CHAIN_SHIP') found[wanted] = value.map(addressOf).join(',')
  }
  return found
}

function addressOf(node: unknown): string {
  return typeof node === 'object' && node !== null ? String(Reflect.get(node, 'url')) : String(node)
}

/** Variables by which containers of others find the database. */
const readByCompose = ['POSTGRES_HOST', 'POSTGRES_PORT', 'POSTGRES_DATABASE'] as const

/** Checks that no variable is set in vain, and that every container hears the same. */
function checkOwn(set: Readonly<Given>, own: OwnFiles, problems: ConfigProblem[]): void {
  const said = valuesOfOwn(own, set)
  const named = withBothNames(set, [])
  for (const name of readByCompose) {
    const value = said[name]
    const found = named[name] ?? standardOf(name)
    if (value === undefined || found === value) continue
    const allowed = `${JSON.stringify(value)}, as ${configFiles.connections} of CONFIG_FILES says`
    problems.push({ file: 'environment', path: name, found: showFound([name], found), allowed })
  }
  for (const setting of settingVariables) {
    const [name] = namesOf(setting, set)
    const isRead = [setting.name, ...setting.aliases].some(
      (each) => isOfAppliance(each) || own.used.has(each),
    )
    if (name === undefined || isRead || !own.texts.has(setting.part)) continue
    const found = `a setting of ${configFiles[setting.part]}, which is your own`
    const allowed = `the key ${setting.key} in that file, or \${${name}} there`
    problems.push({ file: 'environment', path: name, found, allowed })
  }
}

function standardOf(name: keyof typeof variables): string | undefined {
  const { default: standard } = variables[name] as { default?: string | number | boolean | undefined }
  return standard === undefined ? undefined : String(standard)
}

/** @param name as the appliance knows it; the problem has the name that is set. */
function problemOf(name: string, set: Readonly<Given>, error: Error): ConfigProblem {
  const setting = settingVariables.find((each) => each.name === name || each.aliases.includes(name))
  const [path = name] = setting === undefined ? [] : namesOf(setting, set)
  const found = set[path]
  const description = variables[name as keyof typeof variables] as { desc?: string } | undefined
  const allowed =
    found === undefined
      ? `a value: ${description?.desc ?? 'it has no default'} CHAIN=${Object.keys(presets).join(' | ')} sets what is known of a chain`
      : error.message
  return { file: 'environment', path, found: showFound([path], found), allowed }
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
  if (!values.POSTGRES_BUNDLED && values.POSTGRES_HOST === BUNDLED_POSTGRES) {
    refuse(
      'POSTGRES_HOST',
      BUNDLED_POSTGRES,
      'the host of your own server, because POSTGRES_BUNDLED is false',
    )
  }
  if (!values.REDIS_BUNDLED && values.REDIS_HOST === BUNDLED_REDIS) {
    refuse('REDIS_HOST', BUNDLED_REDIS, 'the host of your own server, because REDIS_BUNDLED is false')
  }
  checkEncryption(values, given, problems)
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

/** The bundled servers are reached over a network of the machine, without TLS. */
function checkEncryption(
  values: Values,
  given: Readonly<Record<string, string>>,
  problems: ConfigProblem[],
): void {
  const isBundled = {
    SQLDB_SSL_MODE: values.POSTGRES_HOST === BUNDLED_POSTGRES,
    KVSTORE_TLS: values.REDIS_HOST === BUNDLED_REDIS,
  }
  for (const setting of settingVariables) {
    const [name] = namesOf(setting, given)
    if (name === undefined || !isBundled[setting.name as keyof typeof isBundled]) continue
    const value = parseVariable(setting, given[name]!)
    if (value === 'off' || value === false) continue
    const allowed = 'nothing: the bundled server has no TLS, and only services of this machine reach it'
    problems.push({ file: 'environment', path: name, found: showFound([name], given[name]), allowed })
  }
}

function listProfiles(given: Readonly<Record<string, string>>): string[] {
  return splitList(given.COMPOSE_PROFILES ?? '')
}

/** Names that RFC 2606 reserves for documents; no node has one. */
function isExample(address: string): boolean {
  return /(?:^|\.)example(?:\.(?:org|com|net))?$/i.test(new URL(address).hostname)
}
