import { basename } from 'node:path'
import { showFound } from '../../core/config/index.ts'
import type { ConfigProblem, ConfigWarning } from '../../core/config/index.ts'
import { findVariable, parseVariable, settingVariables } from '../../core/config/environment/index.ts'
import type { SettingVariable } from '../../core/config/environment/index.ts'
import { listVariables } from './catalogue.ts'
import { programsOfImages } from './container-variables.ts'
import { listComposeFiles } from './compose-files.ts'
import type { Resolved } from './resolved.ts'
import { BUNDLED_POSTGRES, BUNDLED_REDIS, splitList } from './variables.ts'

type Asked = Pick<Resolved, 'values' | 'given' | 'profiles'>

/** Settings, and the condition under which no service reads them. */
interface Idle {
  readonly isOf: (name: string, setting: SettingVariable | undefined) => boolean
  /** Sentence with the reason why no service reads the variables; undefined if a service reads them. */
  readonly why: (asked: Asked, text: string, setting: SettingVariable | undefined) => string | undefined
}

const oneOf =
  (...names: readonly string[]) =>
  (name: string): boolean =>
    names.includes(name)
const keysOf =
  (section: string, ...others: readonly string[]) =>
  (_name: string, setting: SettingVariable | undefined): boolean =>
    setting !== undefined && setting.key.startsWith(`${section}.`) && !others.includes(setting.key)

const postgresKeys = keysOf('sqldb', 'sqldb.host', 'sqldb.database', 'sqldb.replicas')
const postgresLogin = oneOf('POSTGRES_SUPERUSER', 'POSTGRES_SUPERUSER_PASSWORD_FILE')

/** Settings that another setting makes ineffective. Rendering refuses them, because the operator expects an effect. */
const refused: readonly Idle[] = [
  {
    isOf: (name, setting) => postgresKeys(name, setting) || postgresLogin(name),
    why: ({ values }) =>
      values.POSTGRES_BUNDLED && values.POSTGRES_HOST === BUNDLED_POSTGRES
        ? 'the bundled PostgreSQL does not use this variable; POSTGRES_BUNDLED=false and POSTGRES_HOST select your own server'
        : undefined,
  },
  {
    // The bundled Redis uses REDIS_PASSWORD and REDIS_DATABASE, so these two variables are exceptions.
    isOf: keysOf('kvstore', 'kvstore.host', 'kvstore.password', 'kvstore.database'),
    why: ({ values }) =>
      values.REDIS_BUNDLED && values.REDIS_HOST === BUNDLED_REDIS
        ? 'the bundled Redis does not use this variable; REDIS_BUNDLED=false and REDIS_HOST select your own server'
        : undefined,
  },
  {
    isOf: keysOf('kvstore.tls'),
    why: ({ given }) => (hasTls(given) ? undefined : 'TLS for Redis is off; REDIS_TLS=true turns TLS on'),
  },
  {
    isOf: oneOf('DATA_LOCATION'),
    why: ({ values }) =>
      values.POSTGRES_BUNDLED
        ? undefined
        : 'no server stores its data in this folder if POSTGRES_BUNDLED is false',
  },
  {
    isOf: (_name, setting) => setting?.key === 'sqldb.password' || setting?.key === 'sqldb.password_file',
    why: ({ given }) =>
      given.POSTGRES_USER === undefined && given.SQLDB_USER === undefined
        ? 'the roles of the services have generated passwords; POSTGRES_USER selects a role of your own'
        : undefined,
  },
  {
    isOf: (_name, setting) => /(?:^|\.)password$/.test(setting?.key ?? ''),
    why: ({ given }, _text, setting) => {
      const file = settingVariables.find(({ key }) => key === `${setting?.key ?? ''}_file`)
      const found = file && findVariable(file, given)
      return found && `the services use the password in ${found.name}`
    },
  },
]

function hasTls(given: Resolved['given']): boolean {
  const tls = given.REDIS_TLS ?? given.KVSTORE_TLS
  // Without REDIS_TLS, a CA file for Redis turns TLS on.
  return tls === undefined
    ? (given.REDIS_TLS_CA_FILE ?? given.KVSTORE_TLS_CA_FILE) !== undefined
    : tls === 'true'
}

const hasComposeFile = (asked: Asked, file: string): boolean =>
  listComposeFiles(asked.given).some((path) => basename(path) === file)
const overlay = (file: string, ...names: readonly string[]): Idle => ({
  isOf: oneOf(...names),
  // A further compose file in COMPOSE_FILE may read the variables `names`.
  why: (asked) =>
    hasComposeFile(asked, file) || listComposeFiles(asked.given).length > 1
      ? undefined
      : `COMPOSE_FILE does not contain ${file}`,
})

const profile = (name: string, isOf: Idle['isOf']): Idle => ({
  isOf,
  why: ({ profiles }) => (profiles.includes(name) ? undefined : `COMPOSE_PROFILES does not contain ${name}`),
})

/** Settings that have no effect until another setting is set. Rendering warns about such a setting. */
const waiting: readonly Idle[] = [
  profile('graphql', (name) => name.startsWith('GRAPHQL_') || name === 'HASURA_IMAGE'),
  profile('monitoring', (name) => /^(?:GRAFANA|PROMETHEUS)_/.test(name)),
  profile('backup', (name) => /^BACKUP_(?:HOURS|AT|KEEP|KEEP_WEEKS|CHECK_DAYS|HOOK|IMAGE)$/.test(name)),
  overlay('docker-compose.scale.yml', 'API_REPLICAS'),
  overlay('docker-compose.ipv6.yml', 'IPV6_SUBNET'),
  {
    isOf: oneOf('TLS_DIR'),
    why: ({ values }) => (values.TLS_MODE === 'files' ? undefined : `TLS_MODE is ${values.TLS_MODE}`),
  },
  {
    isOf: oneOf('ACME_EMAIL', 'ACME_DIRECTORY'),
    why: ({ values }) => (values.TLS_MODE === 'acme' ? undefined : `TLS_MODE is ${values.TLS_MODE}`),
  },
  {
    isOf: oneOf('PG_MEMORY', 'POSTGRES_CPUS'),
    why: ({ values }) => (values.POSTGRES_BUNDLED ? undefined : 'POSTGRES_BUNDLED is false'),
  },
]

const hostOf = (text: string): string =>
  (URL.canParse(text) ? new URL(text).hostname : text).replace(/^\[(.*)\]$/, '$1').toLowerCase()
const isThisContainer = (text: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|::1?)$/.test(hostOf(text))

/**
 * Values that cause a warning: the image of a different program in an image variable, and hosts that mean another
 * machine inside a container.
 */
const inContainer: readonly Idle[] = [
  ...Object.entries(programsOfImages).map(([variable, { program, name }]) => ({
    isOf: oneOf(variable),
    why: (_asked: Asked, text: string) =>
      name.test(text)
        ? undefined
        : `the value does not look like an image of ${program}, but the service starts ${program} from this image`,
  })),
  {
    isOf: oneOf('CHAIN_HTTP', 'CHAIN_SHIP', 'POSTGRES_HOST', 'REDIS_HOST'),
    why: (_asked, text) =>
      splitList(text).some(isThisContainer)
        ? 'inside a container, this address means the container itself; to reach a server on this machine, use the address of this machine in its network'
        : undefined,
  },
  {
    isOf: oneOf('SERVER_ADDR', 'READER_SERVER_ADDR', 'SERVER_METRICS_ADDR'),
    why: (_asked, text) =>
      ['0.0.0.0', '::'].includes(text)
        ? undefined
        : 'with this address, the service does not listen on all interfaces, so other containers cannot connect; use 0.0.0.0 or ::',
  },
]

/**
 * Problems of settings that another setting makes ineffective. A setting with its default value is no problem.
 * @param taken variables that other checks have refused: they are not reported again.
 */
export function refuseWithoutEffect(asked: Asked, taken: ReadonlySet<string>): ConfigProblem[] {
  return findIdle(refused, asked)
    .filter(({ name }) => !taken.has(name))
    .map(({ name, why }) => ({
      file: 'environment',
      path: name,
      found: showFound([name], asked.given[name]),
      allowed: `no value, because ${why}`,
    }))
}

/** Warnings about settings that have no effect until another setting is set. */
export function warnWithoutEffect(asked: Asked): ConfigWarning[] {
  return findIdle(waiting, asked).map(({ name, why }) => ({
    file: 'environment',
    path: name,
    message: `has no effect: ${why}`,
  }))
}

/**
 * Warnings about image variables that name the image of a different program, and about addresses that a container
 * cannot reach or that point to the container itself.
 */
export function warnInContainer(asked: Asked): ConfigWarning[] {
  return findIdle(inContainer, asked).map(({ name, why }) => ({
    file: 'environment',
    path: name,
    message: why,
  }))
}

function findIdle(list: readonly Idle[], asked: Asked): { readonly name: string; readonly why: string }[] {
  const { appliance, shipped } = listVariables()
  const defaults = new Map(appliance.map(({ name, defaultText }) => [name, defaultText]))
  return Object.entries(asked.given).flatMap(([name, text]) => {
    const setting = settingVariables.find((each) => each.name === name || each.aliases.includes(name))
    const standard = defaults.get(name) ?? (setting && shipped.get(setting.name))
    if (text === standard || (setting !== undefined && isEqual(setting, text, standard ?? ''))) return []
    const why = list.filter(({ isOf }) => isOf(name, setting)).map((each) => each.why(asked, text, setting))
    const [first] = why.filter((each) => each !== undefined)
    return first === undefined ? [] : [{ name, why: first }]
  })
}

function isEqual(setting: SettingVariable, one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => JSON.stringify(parseVariable(setting, text)))
  return a === b
}
