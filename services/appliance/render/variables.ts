import { isIPv6 } from 'node:net'
import { HOST_ALLOWED, isAddressRange, isHost, splitHostAndPort } from '../../core/config/address/index.ts'
import { makeExactValidator, makeValidator } from 'envalid'

/** Validator of a whole number; a refusal states the range. */
export const whole = (least: number, most: number) =>
  makeValidator<number>((text) => {
    if (!/^\d{1,15}$/.test(text) || Number(text) < least || Number(text) > most) {
      throw new RangeError(`a whole number from ${least} to ${most}`)
    }
    return Number(text)
  })

/** Validator of a text pattern, described by `allowed`. */
export const matching = (pattern: RegExp, allowed: string) =>
  makeValidator<string>((text) => {
    if (!pattern.test(text)) throw new RangeError(allowed)
    return text
  })

/** A port of this machine or of another one. */
const MAX_PORT = 65_535
export const port = whole(1, MAX_PORT)

/** A flag, in the words that Compose and JSON know. */
const bool = makeValidator<boolean>((text) => {
  if (text !== 'true' && text !== 'false') throw new RangeError('true or false')
  return text === 'true'
})

/** One word of a list. */
export function oneWord<const T extends readonly string[]>(words: T) {
  return makeValidator<T[number]>((text) => {
    if (!words.includes(text)) throw new RangeError(`one of ${words.join(', ')}`)
    return text
  })
}

/** Path of a file or folder. Compose reads a name without a slash as a volume, and a colon as the end of the path. */
const PATH_PATTERN = /^\.{0,2}\/[^:\p{Cc}]{0,4000}$/u
export const PATH_ALLOWED = 'an absolute path, or one that begins with ./ or ../, without a colon'
export const isHostPath = (text: string): boolean => PATH_PATTERN.test(text)
export const hostPath = makeValidator<string>((text) => {
  if (text !== '' && !isHostPath(text)) throw new RangeError(PATH_ALLOWED)
  return text
})

/** The public name; nginx takes no other text for the name of a server. */
const domain = makeValidator<string>((text) => {
  if (!isHost(text) || isIPv6(text)) throw new RangeError('a host name or an IPv4 address')
  return text
})
/** Service of the compose file that is PostgreSQL, unless it is elsewhere. */
export const BUNDLED_POSTGRES = 'postgres'
/** Service of the compose file that is Redis, unless it is external. */
export const BUNDLED_REDIS = 'redis'

const hostName = makeValidator<string>((text) => {
  if (!isHost(text)) throw new RangeError(`${HOST_ALLOWED}, without brackets and port`)
  return text
})
/** Whether a text is the JSON of a list of objects; an IPv6 address has brackets too. */
export const isJsonList = (text: string): boolean => /^\[\s*[{\]]/.test(text)
/** Replicas as JSON, which the schema checks, or as hosts with their ports. */
const replicas = makeExactValidator<string>((text) => {
  const isList = text === '' || isJsonList(text) || splitList(text).every(splitHostAndPort)
  if (!isList) throw new RangeError('host:port, or several separated by commas')
  return text
})
const account = matching(/^(?:none|[a-z1-5.]{1,13})$/, 'an account name, or none to leave the family out')
const chainAddress = (protocols: readonly string[], example: string) =>
  makeExactValidator<string>((text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      throw new RangeError(`a URL such as ${example}`)
    }
    return text
  })

const shipProtocols = ['ws:', 'wss:']

/** One node address, or several that are all used. */
const shipAddresses = makeExactValidator<string>((text) => {
  const addresses = splitList(text)
  const isUsable = (each: string) => URL.canParse(each) && shipProtocols.includes(new URL(each).protocol)
  if (addresses.length === 0 || addresses.length > 16 || !addresses.every(isUsable)) {
    throw new RangeError('a URL such as ws://node:8080, or 1 to 16 of them separated by commas')
  }
  return text
})

/** The entries of a list that is separated by commas. */
export function splitList(text: string): string[] {
  return text.split(',').map((each) => each.trim())
}

const webAddress = chainAddress(['http:', 'https:'], 'https://example.org')

/** Comma-separated IP addresses and CIDR ranges, in the syntax of nginx. */
const networks = makeExactValidator<string>((text) => {
  const found = text === '' ? [] : splitList(text)
  for (const network of found) {
    if (!isAddressRange(network))
      throw new RangeError(`a comma-separated list of IP addresses or CIDR ranges; "${network}" is neither`)
  }
  return found.join(',')
})

/** Databases that every server has, and that of Hasura for its own metadata. */
const takenDatabases = ['postgres', 'template0', 'template1', 'pronghorn_hasura']

/** PostgreSQL cuts names after 63 bytes; infra/postgres/trial.sh appends `_trial` for a copy. */
const databaseName = makeValidator<string>((text) => {
  if (!/^[a-z_][a-z0-9_]{0,56}(?:_trial)?$/.test(text) || takenDatabases.includes(text)) {
    throw new RangeError(`a lower-case name of at most 57 characters, none of ${takenDatabases.join(', ')}`)
  }
  return text
})

/** Bytes of memory, in a form that Compose takes as well: `4g`, `1.5g`, `512m`. */
export const memory = makeValidator<number>((text) => {
  const match = /^(\d{1,7}(?:\.\d{1,3})?)(m|g)b?$/i.exec(text)
  const bytes = match ? Number(match[1]) * (match[2]?.toLowerCase() === 'g' ? 2 ** 30 : 2 ** 20) : 0
  if (bytes < 256 * 2 ** 20) throw new RangeError('an amount of memory from 256m, such as 4g, 1.5g or 512m')
  return Math.floor(bytes)
})

/** ACME authorities take one address, without a name. */
const email = makeValidator<string>((text) => {
  const [, host = ''] = /^[^\s@,;:<>"\p{Cc}]{1,64}@([^@]*)$/u.exec(text) ?? []
  if (text !== '' && !(host.includes('.') && isHost(host))) throw new RangeError('an e-mail address')
  return text
})

/** Source of the proxy's certificate. */
const tlsModes = ['selfsigned', 'files', 'acme', 'off'] as const

/**
 * Variables that the appliance itself reads: allowed values, default and meaning of each. The operator has to set
 * variables without a default; `devDefault` and the other options of envalid are not used. In addition, every key
 * of the three files has a variable (`settingVariables`).
 */
export const variables = {
  CHAIN_NAME: matching(
    /^[A-Za-z0-9._-]{1,64}$/,
    '1 to 64 letters, digits, dots, underscores or hyphens',
  )({
    desc: 'Name of the chain, of your choice; part of the keys in Redis.',
  }),
  CHAIN_ID: matching(/^[0-9a-fA-F]{64}$/, '64 hexadecimal characters')({ desc: 'Id of the chain.' }),
  CHAIN_HTTP: chainAddress(
    ['http:', 'https:'],
    'http://node:8888',
  )({
    desc: 'HTTP interface of your chain node.',
  }),
  CHAIN_SHIP: shipAddresses({
    desc: 'State-history websocket of your chain node; of several nodes separated by commas.',
  }),
  START_BLOCK: whole(
    0,
    4294967295,
  )({
    default: 0,
    desc: 'First block to index; has to lie before the first use of the contracts. 0: the first that the node has.',
  }),
  START_BLOCK_OVERRIDE: bool({
    default: false,
    desc: 'Allow another START_BLOCK than the one that is known of the chain, and contracts that are added later; what came before is missing.',
  }),
  ASSETS_ACCOUNT: account({ default: 'atomicassets', desc: 'Account of the assets contract.' }),
  MARKET_ACCOUNT: account({ default: 'atomicmarket', desc: 'Account of the market contract, or none.' }),
  ORACLE_ACCOUNT: account({
    default: 'delphioracle',
    desc: 'Account of the oracle contract, or none; the market needs it.',
  }),
  TOOLS_ACCOUNT: account({ default: 'atomictoolsx', desc: 'Account of the tools contract, or none.' }),
  READER_NAME: matching(
    /^[A-Za-z0-9._-]{1,64}$/,
    '1 to 64 letters, digits, dots, underscores or hyphens',
  )({
    default: 'main',
    desc: 'Name of the reader. It must not change once the reader has started.',
  }),

  DOMAIN: domain({ default: 'localhost', desc: 'Public host name.' }),
  HTTP_PORT: port({
    default: 8080,
    desc: 'Published port that leads to HTTPS, or serves with TLS_MODE=off.',
  }),
  HTTPS_PORT: port({ default: 8443, desc: 'Published port of HTTPS.' }),
  TLS_MODE: oneWord(tlsModes)({
    default: 'selfsigned',
    desc: 'Where the certificate comes from: created at the first start, your files, an ACME authority, or no TLS at all (behind another proxy).',
  }),
  TLS_DIR: hostPath({
    default: './certificates',
    desc: 'Folder with fullchain.pem and privkey.pem, for TLS_MODE=files.',
  }),
  ACME_EMAIL: email({
    default: '',
    desc: 'Address that the ACME authority may write to; required with TLS_MODE=acme.',
  }),
  ACME_DIRECTORY: webAddress({
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    desc: 'Directory of the ACME authority.',
  }),
  TRUSTED_PROXIES: networks({
    default: '',
    desc: 'Addresses (IP or CIDR, comma-separated) of proxies in front of this one whose X-Forwarded-For is believed.',
  }),
  IPV6: bool({ default: false, desc: 'Listen on IPv6 as well; docker-compose.ipv6.yml sets it.' }),

  API_WORKERS: whole(0, 256)({ default: 0, desc: 'Processes of the api container; 0 for one per core.' }),
  API_REPLICAS: whole(
    1,
    1_000,
  )({
    default: 2,
    desc: 'Containers of the api with docker-compose.scale.yml; PostgreSQL takes the connections of one more.',
  }),

  POSTGRES_BUNDLED: bool({
    default: true,
    desc: 'Run the bundled PostgreSQL; false for a server of your own, at POSTGRES_HOST.',
  }),
  DATA_LOCATION: hostPath({
    default: '',
    desc: 'Folder of this machine for the database of the bundled PostgreSQL; without it a volume of Docker.',
  }),
  POSTGRES_HOST: hostName({ default: BUNDLED_POSTGRES, desc: 'Host of PostgreSQL.' }),
  POSTGRES_PORT: port({ default: 5432, desc: 'Port of PostgreSQL.' }),
  POSTGRES_DATABASE: databaseName({
    default: 'pronghorn',
    desc: 'Name of the database; one for each chain.',
  }),
  POSTGRES_SUPERUSER: matching(
    /^[a-z_][a-z0-9_]{0,62}$/,
    'a lower-case name of at most 63 characters',
  )({
    default: 'postgres',
    desc: 'Role that creates the database and the roles.',
  }),
  POSTGRES_SUPERUSER_PASSWORD_FILE: hostPath({
    default: '',
    desc: 'File with its password, for a PostgreSQL of your own; of the bundled one it is created at the first start.',
  }),
  POSTGRES_REPLICAS: replicas({
    default: '',
    desc: 'Streaming replicas that the api may read from (host:port, with commas).',
  }),
  PG_MEMORY: memory({
    default: 4 * 2 ** 30,
    desc: 'Memory for PostgreSQL, such as 32g; its settings are computed from it and its container is limited to it.',
  }),
  CONFIG_FILES: hostPath({
    default: '',
    desc: 'Folder with JSON files of your own (connections.config.json, server.config.json, readers.config.json), which take the place of the rendered ones.',
  }),
  REDIS_BUNDLED: bool({
    default: true,
    desc: 'Run the bundled Redis; false for a server of your own, at REDIS_HOST.',
  }),
  REDIS_HOST: hostName({ default: BUNDLED_REDIS, desc: 'Host of Redis.' }),
  REDIS_PORT: port({ default: 6379, desc: 'Port of Redis.' }),
  GRAPHQL_CONSOLE: bool({
    default: false,
    desc: 'Reach the Hasura console and its admin interfaces at /console.',
  }),
  GRAPHQL_ROW_LIMIT: whole(
    1,
    100_000,
  )({
    default: 100,
    desc: 'Most rows of a GraphQL list, nested ones included.',
  }),
  GRAPHQL_RATE_LIMIT: whole(
    1,
    10_000,
  )({
    default: 10,
    desc: 'GraphQL queries per second of one address.',
  }),
} as const
