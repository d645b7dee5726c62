import { isIP } from 'node:net'
import { basename, normalize } from 'node:path'
import { cleanEnv } from 'envalid'
import { DEMO_CHAIN_ID } from '../../core/chain-node/index.ts'
import { configFiles, showFound } from '../../core/config/index.ts'
import { startBlockProblem } from '../../core/config/schema/index.ts'
import type { ConfigPart, ConfigProblem } from '../../core/config/index.ts'
import {
  checkVariable,
  readStateSettings,
  settingVariables,
  valueAt,
} from '../../core/config/environment/index.ts'
import type { Environment, SettingVariable } from '../../core/config/environment/index.ts'
import { images } from '../../core/images/index.ts'
import { composeProfiles, composeVariables, containerVariables } from './container-variables.ts'
import { COMPOSE_BASE, listComposeFiles } from './compose-files.ts'
import { parseOwnFile } from './own-files.ts'
import type { OwnFiles } from './own-files.ts'
import { demoPreset, findPreset, presets } from './presets.ts'
import { serviceRoles } from './service-roles.ts'
import { BUNDLED_POSTGRES, BUNDLED_REDIS, isJsonList, splitList, variables } from './variables.ts'
import type { Resolved, Values } from './resolved.ts'
import { refuseWithoutEffect } from './without-effect.ts'

type Given = Record<string, string>

/** The resolved variables, and the variables that were refused. */
export interface Resolution {
  /** The settings as they would be if no refused variable were set. */
  readonly resolved: Resolved
  readonly problems: readonly ConfigProblem[]
  /** Names of the refused variables. */
  readonly refused: ReadonlySet<string>
}

/**
 * Resolves the variables. Precedence: the environment, the operator's connection file, the preset that `CHAIN` names,
 * the defaults. The demo chain is used if `DEMO_CHAIN` is true and no variable describes a chain. Refused variables
 * count as not set, so that one run reports all problems.
 * @param known names that an earlier check has refused.
 */
export function resolveUsable(
  environment: Environment,
  own: OwnFiles,
  known: ReadonlySet<string>,
): Resolution {
  const refused = new Set(known)
  const problems: ConfigProblem[] = []
  for (;;) {
    const found = resolveOnce(environment, own, refused)
    const fresh = found.problems.filter((problem) => !namesLost(problem).some((name) => refused.has(name)))
    if (fresh.length === 0) return { resolved: found.resolved, problems, refused }
    problems.push(...fresh)
    for (const name of fresh.flatMap(namesLost)) refused.add(name)
  }
}

/** The variable in the path of a problem: READER_LIST_POLLS for `READER_LIST_POLLS[0].url`. */
export function variableOf(path: string): string {
  return /^\w*/.exec(path)![0]
}

/** All names of the setting that has a problem. Empty if the problem is in a JSON file. */
export function namesOfProblem({ file, path }: ConfigProblem): readonly string[] {
  return file === 'environment' || file === '.env' ? sameVariables(variableOf(path)) : []
}

/**
 * All names of the setting that counts as not set because of a problem. The problem is in a variable, or at a key of an
 * operator's JSON file.
 */
function namesLost({ file, path }: ConfigProblem): readonly string[] {
  const setting = settingVariables.find(({ part, key }) => configFiles[part] === file && key === path)
  return sameVariables(setting?.name ?? variableOf(path))
}

/** All names of the setting that a variable belongs to. */
function sameVariables(name: string): readonly string[] {
  const setting = settingVariables.find((each) => each.name === name || each.aliases.includes(name))
  return setting === undefined ? [name] : [setting.name, ...setting.aliases]
}

/** Placeholder values for refused settings without a default; no file is rendered from placeholders. */
const placeholders = { ...demoPreset, CHAIN_ID: DEMO_CHAIN_ID }

function resolveOnce(
  environment: Environment,
  own: OwnFiles,
  refused: ReadonlySet<string>,
): { readonly resolved: Resolved; readonly problems: readonly ConfigProblem[] } {
  const set = Object.fromEntries(
    Object.entries(environment).filter(
      (pair): pair is [string, string] => (pair[1] ?? '') !== '' && !refused.has(pair[0]),
    ),
  )
  const problems: ConfigProblem[] = []
  const named = withBothNames(set, problems)
  // An operator's JSON file may refer to variables that CHAIN sets.
  const ofChain = choosePreset(named, refused, []).values
  const ofOwn = Object.entries(valuesOfOwn(own, { ...ofChain, ...set })).filter(
    ([name]) => !refused.has(name),
  )
  const given = { ...Object.fromEntries(ofOwn), ...named }
  const preset = choosePreset(given, refused, problems)
  // The check of the operator's connections.config.json reports the keys that the file lacks. Placeholders for these
  // keys avoid a second report.
  const standing = Object.entries(placeholders).filter(
    ([name]) => refused.has(name) || (own.texts.has('connections') && isOfFile(name, 'connections')),
  )
  const values: Values = cleanEnv(
    { ...Object.fromEntries(standing), ...preset.values, ...given },
    { ...variables, ...containerVariables, ...composeVariables },
    {
      reporter: ({ errors }) => {
        for (const [name, error] of Object.entries(errors))
          problems.push(problemOf(name, { set, given }, error))
      },
    },
  )
  problems.push(...readStateSettings(given).problems, ...checkSettings(given, problems))
  // Checks that compare variables run only if every single variable is valid.
  if (problems.length === 0) {
    problems.push(...checkTogether({ values, given, isDemo: preset.isDemo }, refused))
    checkOwn(set, own, problems)
  }
  const resolved = { values, given, isDemo: preset.isDemo, profiles: listProfiles(given) }
  return { resolved, problems }
}

const isOfAppliance = (name: string): name is keyof typeof variables => name in variables
const isOfFile = (name: string, part: ConfigPart): boolean =>
  settingVariables.some((each) => each.part === part && sameVariables(name).includes(each.name))

/** The variable names of a setting that are set: first the current name, then its aliases. */
function namesOf({ name, aliases }: SettingVariable, given: Readonly<Given>): string[] {
  return [name, ...aliases].filter((each) => given[each] !== undefined)
}

/** A setting may be given under several names. Copies its value to the name that the appliance itself reads. */
function withBothNames(set: Readonly<Given>, problems: ConfigProblem[]): Given {
  const given = { ...set }
  for (const setting of settingVariables) {
    const [name, other] = namesOf(setting, set)
    if (name === undefined) continue
    if (other !== undefined && set[name] !== set[other]) {
      const found = `${showFound([other], set[other])} while ${name} is ${showFound([name], set[name])}`
      problems.push({
        file: 'environment',
        path: other,
        found,
        allowed: 'only one of the two names: both name the same setting',
      })
    }
    const wanted = [setting.name, ...setting.aliases].find(isOfAppliance)
    if (wanted !== undefined) given[wanted] = set[name]!
  }
  return given
}

/**
 * Checks the variables that set keys of the configuration files. The schemas of these files decide which values are
 * valid.
 */
function checkSettings(given: Readonly<Given>, known: readonly ConfigProblem[]): ConfigProblem[] {
  return settingVariables.flatMap((setting) => {
    const [name] = namesOf(setting, given)
    if (name === undefined || known.some(({ path }) => sameVariables(path).includes(name))) return []
    // A short list of replicas, such as `host:port`, is not JSON; the validator of the variable has checked it.
    if (setting.name === 'SQLDB_REPLICAS' && !isJsonList(given[name]!)) return []
    const family = setting.steps.find((step) => typeof step === 'object')?.family.toUpperCase() ?? ''
    if (given[`${family}_ACCOUNT`] === 'none') {
      const allowed = `no value, because the contract is not indexed (${family}_ACCOUNT=none)`
      return [{ file: 'environment', path: name, found: showFound([name], given[name]), allowed }]
    }
    return checkVariable(setting, name, given[name]!)
  })
}

/**
 * Values of the operator's connections.config.json, as variables of the appliance. Values that the schema of the file
 * refuses are absent.
 */
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
  for (const { part, steps, name, aliases, schema } of settingVariables) {
    const wanted = [name, ...aliases].find(isOfAppliance)
    if (part !== 'connections' || wanted === undefined) continue
    const value = valueAt(content, steps)
    if (!schema.safeParse(value).success) continue
    if (typeof value === 'string' || typeof value === 'number') found[wanted] = String(value)
    else if (Array.isArray(value) && wanted === 'CHAIN_SHIP') found[wanted] = value.map(addressOf).join(',')
  }
  return found
}

function addressOf(node: unknown): string {
  return typeof node === 'object' && node !== null ? String(Reflect.get(node, 'url')) : String(node)
}

/** Variables by which other containers connect to the database. */
const readByCompose = ['POSTGRES_HOST', 'POSTGRES_PORT', 'POSTGRES_DATABASE'] as const

/** Checks that every variable has an effect, and that all containers get the same values. */
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
    const found = `a setting of ${configFiles[setting.part]}, which is your own file`
    const allowed = `the key ${setting.key} in this file, with a value or with \${${name}}`
    problems.push({ file: 'environment', path: name, found, allowed })
  }
}

function standardOf(name: keyof typeof variables): string | undefined {
  const { default: standard } = variables[name] as { default?: string | number | boolean | undefined }
  return standard === undefined ? undefined : String(standard)
}

/**
 * The problem of a setting's value. The path of the problem is the variable that the operator set, or the key in the
 * operator's JSON file.
 * @param name name of the setting. @param values `set`: values of `.env`; `given`: also values of the JSON files.
 */
function problemOf(
  name: string,
  { set, given }: { readonly set: Readonly<Given>; readonly given: Readonly<Given> },
  error: Error,
): ConfigProblem {
  const setting = settingVariables.find((each) => each.name === name || each.aliases.includes(name))
  const [path = name] = setting === undefined ? [] : namesOf(setting, set)
  if (setting !== undefined && set[path] === undefined && given[path] !== undefined)
    return {
      file: configFiles[setting.part],
      path: setting.key,
      found: showFound([path], given[path]),
      allowed: error.message,
    }
  const found = set[path]
  const description = variables[name as keyof typeof variables] as { desc?: string } | undefined
  const allowed =
    found === undefined
      ? `a value: ${description?.desc ?? 'it has no default'} For a public chain, CHAIN=${Object.keys(presets).join(' | ')} sets the known values`
      : error.message
  return { file: 'environment', path, found: showFound([path], found), allowed }
}
interface ChosenPreset {
  readonly values: Readonly<Record<string, string>>
  readonly isDemo: boolean
}

function choosePreset(
  given: Readonly<Record<string, string>>,
  refused: ReadonlySet<string>,
  problems: ConfigProblem[],
): ChosenPreset {
  const name = given.CHAIN
  if (name !== undefined) {
    const preset = findPreset(name)
    if (preset) return { values: preset, isDemo: false }
    const allowed = `one of ${Object.keys(presets).join(', ')}`
    problems.push({ file: 'environment', path: 'CHAIN', found: JSON.stringify(name), allowed })
  }
  // With a refused CHAIN, placeholders stand for its values: a missing CHAIN_NAME or CHAIN_ID is not a second problem.
  const { CHAIN_NAME, CHAIN_ID } = placeholders
  if (name !== undefined || refused.has('CHAIN')) return { values: { CHAIN_NAME, CHAIN_ID }, isDemo: false }
  const facts = ['CHAIN_ID', 'CHAIN_HTTP', 'CHAIN_SHIP'].filter((each) => given[each] !== undefined)
  if (facts.length > 0 || given.DEMO_CHAIN !== 'true') return { values: {}, isDemo: false }
  return { values: { ...demoPreset, CHAIN_ID: DEMO_CHAIN_ID }, isDemo: true }
}

/** Problems of several variables together. @param refused names of variables whose values are not used. */
function checkTogether(
  { values, given, isDemo }: Pick<Resolved, 'values' | 'given' | 'isDemo'>,
  refused: ReadonlySet<string>,
): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  /**
   * Adds a problem. `others` are the other variables that take part in the problem: if one of them is refused, the
   * problem is not added.
   */
  const refuse = (path: string, found: unknown, allowed: string, others: readonly string[] = []): void => {
    if (others.some((name) => refused.has(name))) return
    problems.push({ file: 'environment', path, found: showFound([path], found), allowed })
  }
  const ports = listPublished(values, given)
  ports.forEach(([name, port], at) => {
    const [other] = ports.slice(0, at).find(([, taken]) => taken === port) ?? []
    if (other !== undefined) refuse(name, port, `another port than ${other}, which is ${port}`, [other])
  })
  const start = values.START_BLOCK_OVERRIDE
    ? undefined
    : startBlockProblem(values.CHAIN_ID, values.START_BLOCK, 'START_BLOCK_OVERRIDE=true')
  if (start !== undefined)
    refuse('START_BLOCK', values.START_BLOCK, start, ['CHAIN', 'CHAIN_ID', 'START_BLOCK_OVERRIDE'])
  for (const name of ['CHAIN_HTTP', 'CHAIN_SHIP'] as const) {
    if (splitList(values[name]).some(isExample))
      refuse(name, values[name], 'the address of your chain node, not an example')
  }
  const ofChain = findPreset(given.CHAIN ?? '')
  if (ofChain !== undefined && values.CHAIN_ID.toLowerCase() !== ofChain.CHAIN_ID) {
    const allowed = `${ofChain.CHAIN_ID}, because CHAIN is ${ofChain.CHAIN_NAME}; or a configuration without the variable CHAIN`
    refuse('CHAIN_ID', values.CHAIN_ID, allowed, ['CHAIN'])
  }
  if (values.TLS_MODE === 'acme' && !isCertifiable(values.DOMAIN, given.ACME_DIRECTORY)) {
    refuse('DOMAIN', values.DOMAIN, 'a public host name, because TLS_MODE is acme')
  }
  if (values.TLS_MODE === 'acme' && values.ACME_EMAIL === '') {
    refuse('ACME_EMAIL', values.ACME_EMAIL, 'an e-mail address, because TLS_MODE is acme')
  }
  checkCompose({ values, given, isDemo }, refuse)
  checkComposeFile({ values, given, isDemo }, refused, refuse)
  if (!values.POSTGRES_BUNDLED && values.POSTGRES_HOST === BUNDLED_POSTGRES) {
    const allowed = 'the host of your own server, because POSTGRES_BUNDLED is false'
    refuse('POSTGRES_HOST', BUNDLED_POSTGRES, allowed)
  }
  if (!values.REDIS_BUNDLED && values.REDIS_HOST === BUNDLED_REDIS) {
    refuse('REDIS_HOST', BUNDLED_REDIS, 'the host of your own server, because REDIS_BUNDLED is false')
  }
  checkServers(values, given, refuse)
  problems.push(...refuseWithoutEffect({ values, given, profiles: listProfiles(given) }, refused))
  if (values.ASSETS_ACCOUNT === 'none') {
    refuse('ASSETS_ACCOUNT', 'none', 'an account name: every other family needs the assets contract')
  }
  if (values.MARKET_ACCOUNT !== 'none' && values.ORACLE_ACCOUNT === 'none') {
    const allowed = 'an account name, because the market needs the oracle; or MARKET_ACCOUNT=none'
    refuse('ORACLE_ACCOUNT', 'none', allowed, ['MARKET_ACCOUNT'])
  }
  const isWithoutLogin = ['POSTGRES_SUPERUSER_PASSWORD_FILE', 'POSTGRES_SSL_CERT_FILE', 'SQLDB_SSL_CERT_FILE']
  if (!values.POSTGRES_BUNDLED && isWithoutLogin.every((name) => given[name] === undefined)) {
    const allowed = `a file with the password of ${values.POSTGRES_SUPERUSER}, because POSTGRES_BUNDLED is false; POSTGRES_SSL_CERT_FILE with a client certificate replaces the password`
    refuse('POSTGRES_SUPERUSER_PASSWORD_FILE', undefined, allowed)
  }
  return problems
}

/** Characters that end or quote a word in redis.conf. */
const UNFIT_FOR_REDIS_CONF = /[\s"'\p{Cc}]/u
/** Databases of the bundled Redis. */
const REDIS_DATABASES = 16

/** Problems of the roles, passwords and database numbers for PostgreSQL and Redis. */
function checkServers(values: Values, given: Readonly<Given>, refuse: Refuse): void {
  for (const name of ['REDIS_DATABASE', 'KVSTORE_DATABASE']) {
    if (values.REDIS_HOST !== BUNDLED_REDIS || Number(given[name] ?? 0) < REDIS_DATABASES) continue
    refuse(
      name,
      given[name],
      `a number below ${REDIS_DATABASES}, because the bundled Redis has ${REDIS_DATABASES} databases`,
    )
  }
  for (const name of ['REDIS_PASSWORD', 'KVSTORE_PASSWORD']) {
    if (values.REDIS_HOST !== BUNDLED_REDIS || !UNFIT_FOR_REDIS_CONF.test(given[name] ?? '')) continue
    refuse(name, given[name], 'text without spaces, quotes and control characters, for the bundled Redis')
  }
  for (const name of ['POSTGRES_USER', 'SQLDB_USER', 'POSTGRES_SUPERUSER'])
    if (serviceRoles.includes(given[name] ?? ''))
      refuse(name, given[name], 'a role of your own, because the services use this role')
  const passwords = ['PASSWORD', 'PASSWORD_FILE'].flatMap((word) => [`POSTGRES_${word}`, `SQLDB_${word}`])
  if (values.POSTGRES_HOST === BUNDLED_POSTGRES || passwords.some((name) => given[name] !== undefined)) return
  for (const name of ['POSTGRES_USER', 'SQLDB_USER']) {
    if (given[name] === undefined) continue
    refuse(
      name,
      given[name],
      'a role whose password is in POSTGRES_PASSWORD_FILE: without this file, only the roles of the services have passwords',
    )
  }
}

type Refuse = (path: string, found: unknown, allowed: string) => void

function checkComposeFile(
  { values, given, isDemo }: Pick<Resolved, 'values' | 'given' | 'isDemo'>,
  refused: ReadonlySet<string>,
  refuse: Refuse,
): void {
  const files = listComposeFiles(given).map((path) => normalize(path))
  if (files[0] !== undefined && basename(files[0]) !== COMPOSE_BASE)
    refuse('COMPOSE_FILE', given.COMPOSE_FILE, `a list that begins with ${COMPOSE_BASE}`)
  else if (files.includes(normalize('')) || new Set(files).size < files.length)
    refuse('COMPOSE_FILE', given.COMPOSE_FILE, 'a list of different files, without a colon at its end')
  // If the URL of the node is refused, `values` has the demo chain's URL as a placeholder.
  const isDemoNode = !['CHAIN_HTTP', 'CHAIN_SHIP'].some((name) => refused.has(name)) && usesDemoNode(values)
  if (given.DEMO_CHAIN !== 'true' || isDemo || isDemoNode) return
  const chain = refused.has('CHAIN_NAME') ? 'another one' : values.CHAIN_NAME
  const allowed = `${COMPOSE_BASE}, which leaves out the node of the demo chain: the chain is ${chain}`
  refuse('COMPOSE_FILE', given.COMPOSE_FILE, allowed)
}

const demoHost = new URL(demoPreset.CHAIN_HTTP).hostname
const usesDemoNode = ({ CHAIN_HTTP, CHAIN_SHIP }: Values): boolean =>
  [CHAIN_HTTP, ...splitList(CHAIN_SHIP)].every((address) => new URL(address).hostname === demoHost)

/** Problems of the variables that Compose and other images read. */
function checkCompose(
  { values, given, isDemo }: Pick<Resolved, 'values' | 'given' | 'isDemo'>,
  refuse: Refuse,
): void {
  const profiles = listProfiles(given)
  const unknown = profiles.filter((name) => !(composeProfiles as readonly string[]).includes(name))
  if (unknown.length > 0) {
    const allowed = `a comma-separated list of the profiles ${composeProfiles.join(', ')}; ${unknown.join(', ')} is not a profile`
    refuse('COMPOSE_PROFILES', given.COMPOSE_PROFILES, allowed)
  } else if (values.TLS_MODE === 'acme' && !profiles.includes('acme')) {
    const allowed = 'a list of profiles with acme, because TLS_MODE is acme'
    refuse('COMPOSE_PROFILES', given.COMPOSE_PROFILES ?? '', allowed)
  } else if (values.TLS_MODE !== 'acme' && profiles.includes('acme')) {
    const allowed = `a list of profiles without acme, because TLS_MODE is ${values.TLS_MODE}; or TLS_MODE=acme`
    refuse('COMPOSE_PROFILES', given.COMPOSE_PROFILES, allowed)
  } else if (profiles.includes('devchain') && !isDemo && !usesDemoNode(values)) {
    const allowed = `a list of profiles without devchain, because the chain is ${values.CHAIN_NAME}`
    refuse('COMPOSE_PROFILES', given.COMPOSE_PROFILES, allowed)
  }
  const project = given.COMPOSE_PROJECT_NAME
  if (project !== undefined && !/^[a-z0-9][a-z0-9_-]{0,99}$/.test(project)) {
    refuse('COMPOSE_PROJECT_NAME', project, 'at most 100 lower-case letters, digits, hyphens and underscores')
  }
  if (!isSupportedPostgres(values.POSTGRES_IMAGE)) {
    refuse('POSTGRES_IMAGE', values.POSTGRES_IMAGE, SUPPORTED_POSTGRES)
  }
}

/** Ports that containers publish on this machine. The port of Grafana is included if the profile monitoring is on. */
function listPublished(values: Values, given: Readonly<Record<string, string>>) {
  const hasGrafana = listProfiles(given).includes('monitoring')
  const names = ['HTTP_PORT', 'HTTPS_PORT', ...(hasGrafana ? (['GRAFANA_PORT'] as const) : [])] as const
  return names.map((name) => [name, values[name]] as const)
}

/** PostgreSQL versions with which the program is tested, and the versions between them. */
const LEAST_POSTGRES = 14
const MOST_POSTGRES = 18
const SUPPORTED_POSTGRES = `an image of PostgreSQL ${LEAST_POSTGRES} to ${MOST_POSTGRES} whose tag begins with its version, such as ${images.postgres}`

/** Whether the tag of an image named `postgres` is a supported version. True for other names: any tag is allowed. */
function isSupportedPostgres(image: string): boolean {
  const [, name, tag = ''] = /^(?:.*\/)?([^/:@]+)(?::([^/@]+))?(?:@.*)?$/.exec(image) ?? []
  if (name !== 'postgres') return true
  const version = Number.parseInt(tag)
  return version >= LEAST_POSTGRES && version <= MOST_POSTGRES
}

function listProfiles(given: Readonly<Record<string, string>>): string[] {
  return splitList(given.COMPOSE_PROFILES ?? '').filter((name) => name !== '')
}

/**
 * Endings of domains that no public authority certifies: RFC 2606, 6761, 6762, 8375 and the `internal` of ICANN reserve
 * them.
 */
const PRIVATE_NAME =
  /\.(?:alt|example|home\.arpa|internal|invalid|lan|local|localhost|onion|test|example\.(?:com|net|org))$/i

/** Whether an ACME authority can certify a domain. @param directory URL of the operator's own ACME authority. */
function isCertifiable(domain: string, directory: string | undefined): boolean {
  if (!domain.includes('.') || isIP(domain) !== 0) return false
  return directory !== undefined || !PRIVATE_NAME.test(domain)
}

/** Whether the host of a URL is an example domain of RFC 2606, where no node runs. */
function isExample(address: string): boolean {
  return /(?:^|\.)example(?:\.(?:org|com|net))?$/i.test(new URL(address).hostname)
}
