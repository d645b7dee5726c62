import type { Environment } from './environment.ts'
import { HOST_ALLOWED, isAddressRange, isHost } from '../address/index.ts'
import { showFound } from '../problems.ts'
import type { ConfigProblem } from '../problems.ts'

/**
 * Settings of the state service. Only environment variables set them, because the configuration files have no section
 * for the state service.
 */
export interface StateSettings {
  /** IP address to listen on. */
  readonly address: string
  readonly port: number
  /** Lifetime of an access token, in seconds. */
  readonly tokenTtlSeconds: number
  /** Maximum number of access tokens that one client IP address gets per minute. */
  readonly tokensPerMinute: number
  /** Trusted proxies, like `trust_proxy` in server.config.json. */
  readonly trustProxy: boolean | number | string
  /** Maximum database connections of the process. */
  readonly databaseConnections: number
  /** Port of the metrics; 0 = no metrics. */
  readonly metricsPort: number
  /** Maximum size of one response, in bytes. */
  readonly answerBytes: number
  /** Maximum bytes of all responses in progress. */
  readonly answersBytes: number
}

/** An environment variable of the state service, for the documentation. */
export interface StateVariable {
  readonly name: string
  readonly defaultValue: string
  readonly allowed: string
  readonly description: string
}

const names = {
  address: 'STATE_ADDR',
  port: 'STATE_PORT',
  ttl: 'STATE_TOKEN_TTL_SECONDS',
  issuance: 'STATE_TOKENS_PER_MINUTE',
  proxies: 'STATE_TRUST_PROXY',
  connections: 'STATE_DB_CONNECTIONS',
  metrics: 'STATE_METRICS_PORT',
  answer: 'STATE_ANSWER_BYTES',
  answers: 'STATE_ANSWERS_BYTES',
} as const

const MIN_ANSWER_BYTES = 65_536
const MAX_ANSWER_BYTES = 999_999_999

/** Maximum lifetime of access tokens: a token stays valid at most this long after its signing key was replaced. */
const MAX_TTL_SECONDS = 86_400

const PROXIES_ALLOWED =
  'true, false, the number of proxies (1 to 32), or a comma-separated list of addresses, address ranges, loopback, linklocal, uniquelocal'

export const stateVariables: readonly StateVariable[] = [
  {
    name: names.address,
    defaultValue: '0.0.0.0',
    allowed: HOST_ALLOWED,
    description: 'Address to listen on.',
  },
  {
    name: names.port,
    defaultValue: '9010',
    allowed: numberText(1, 65_535),
    description: 'Port to listen on.',
  },
  {
    name: names.ttl,
    defaultValue: '3600',
    allowed: numberText(60, MAX_TTL_SECONDS),
    description: 'Lifetime of an access token, in seconds.',
  },
  {
    name: names.issuance,
    defaultValue: '10',
    allowed: numberText(1, 1_000_000),
    description: 'Maximum number of access tokens that one client IP address gets per minute.',
  },
  {
    name: names.proxies,
    defaultValue: 'false',
    allowed: PROXIES_ALLOWED,
    description: 'Proxies whose X-Forwarded-For header is trusted for the client address; true = one proxy.',
  },
  {
    name: names.connections,
    defaultValue: '10',
    allowed: numberText(1, 1_000),
    description: 'Maximum number of database connections of the process.',
  },
  {
    name: names.metrics,
    defaultValue: '0',
    allowed: numberText(0, 65_535),
    description: 'Port of the metrics, at STATE_ADDR; 0 = no metrics.',
  },
  {
    name: names.answer,
    defaultValue: '33554432',
    allowed: numberText(MIN_ANSWER_BYTES, MAX_ANSWER_BYTES),
    description: 'Maximum size of an answer (bytes); a request for a larger answer is refused.',
  },
  {
    name: names.answers,
    defaultValue: '268435456',
    allowed: numberText(MIN_ANSWER_BYTES, MAX_ANSWER_BYTES),
    description:
      'Maximum number of bytes of all answers in progress of the process; an answer counts until it has been sent. One client may use at most a quarter of these bytes, or the maximum size of one answer if that is larger.',
  },
]

/** Reads the settings of the state service. An invalid value is reported as a problem, and the default applies. */
export function readStateSettings(environment: Environment): {
  readonly settings: StateSettings
  readonly problems: ConfigProblem[]
} {
  const problems: ConfigProblem[] = []
  const refuse = (name: string, allowed: string): void => {
    problems.push({ file: 'environment', path: name, found: showFound([], environment[name]), allowed })
  }
  const given = (name: string): string | undefined => {
    const found = environment[name]?.trim()
    return found === '' ? undefined : found
  }
  const number = (name: string, standard: number, min: number, max: number): number => {
    const found = given(name)
    if (found === undefined) return standard
    const value = /^\d{1,9}$/.test(found) ? Number(found) : NaN
    if (value >= min && value <= max) return value
    refuse(name, numberText(min, max))
    return standard
  }
  const address = given(names.address) ?? '0.0.0.0'
  if (!isHost(address)) refuse(names.address, HOST_ALLOWED)
  const proxies = given(names.proxies) ?? 'false'
  if (!isProxies(proxies)) refuse(names.proxies, PROXIES_ALLOWED)
  const settings = {
    address,
    port: number(names.port, 9010, 1, 65_535),
    tokenTtlSeconds: number(names.ttl, 3_600, 60, MAX_TTL_SECONDS),
    tokensPerMinute: number(names.issuance, 10, 1, 1_000_000),
    trustProxy: isProxies(proxies) ? proxiesOf(proxies) : false,
    databaseConnections: number(names.connections, 10, 1, 1_000),
    metricsPort: number(names.metrics, 0, 0, 65_535),
    answerBytes: number(names.answer, 33_554_432, MIN_ANSWER_BYTES, MAX_ANSWER_BYTES),
    answersBytes: number(names.answers, 268_435_456, MIN_ANSWER_BYTES, MAX_ANSWER_BYTES),
  }
  if (settings.metricsPort === settings.port)
    refuse(names.metrics, `another port than ${names.port}, which is ${settings.port}`)
  return { settings, problems }
}

function numberText(min: number, max: number): string {
  return `a whole number from ${min} to ${max}`
}

function isProxies(text: string): boolean {
  if (/^(?:true|false)$/i.test(text)) return true
  if (/^\d+$/.test(text)) return Number(text) >= 1 && Number(text) <= 32
  return text.split(',').every((each) => {
    const range = each.trim()
    return ['loopback', 'linklocal', 'uniquelocal'].includes(range) || isAddressRange(range)
  })
}

function proxiesOf(text: string): boolean | number | string {
  if (/^true$/i.test(text)) return true
  if (/^false$/i.test(text)) return false
  return /^\d+$/.test(text) ? Number(text) : text
}
