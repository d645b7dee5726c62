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

/** Validator of a text that must match a pattern. `allowed` describes the pattern in the error. */
export const matching = (pattern: RegExp, allowed: string) =>
  makeValidator<string>((text) => {
    if (!pattern.test(text)) throw new RangeError(allowed)
    return text
  })

const MAX_PORT = 65_535
export const port = whole(1, MAX_PORT)

/** Validator of a flag: only true and false, the words that Compose and JSON know. */
const bool = makeValidator<boolean>((text) => {
  if (text !== 'true' && text !== 'false') throw new RangeError('true or false')
  return text === 'true'
})

/** Validator of a variable that must have one of the given words. */
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

/** Validator of DOMAIN: nginx accepts only a host name or an IPv4 address as `server_name`. */
const domain = makeValidator<string>((text) => {
  if (!isHost(text) || isIPv6(text)) throw new RangeError('a host name or an IPv4 address')
  return text
})
/** Name of the bundled PostgreSQL's service in the compose file. */
export const BUNDLED_POSTGRES = 'postgres'
/** Name of the bundled Redis's service in the compose file. */
export const BUNDLED_REDIS = 'redis'

const hostName = makeValidator<string>((text) => {
  if (!isHost(text)) throw new RangeError(`${HOST_ALLOWED}, without brackets and port`)
  return text
})
/**
 * Whether a text is the JSON of an empty list or of a list of objects. The first character alone does not show it: an
 * IPv6 address with a port, such as `[::1]:5432`, also begins with `[`.
 */
export const isJsonList = (text: string): boolean => /^\[\s*[{\]]/.test(text)
/** Validator of the list of replicas: JSON, which the schema checks, or hosts with their ports. */
const replicas = makeExactValidator<string>((text) => {
  const isList = text === '' || isJsonList(text) || splitList(text).every(splitHostAndPort)
  if (!isList) throw new RangeError('host:port, or several separated by commas')
  return text
})
const account = matching(/^(?:none|[a-z1-5.]{1,13})$/, 'an account name, or none to leave the contract out')
const chainAddress = (protocols: readonly string[], example: string) =>
  makeExactValidator<string>((text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      throw new RangeError(`a URL such as ${example}`)
    }
    return text
  })

const shipProtocols = ['ws:', 'wss:']

/** State-history URLs of one or several nodes; the reader uses all of them. */
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

/** Databases that every server has, and the database with the metadata of Hasura. */
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

/** Validator of ACME_EMAIL: ACME authorities accept one e-mail address without a display name. */
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
 * of the configuration files has a variable (`settingVariables`).
 */
export const variables = {
  CHAIN_NAME: matching(
    /^[A-Za-z0-9._-]{1,64}$/,
    '1 to 64 letters, digits, dots, underscores or hyphens',
  )({
    desc: 'Name of the chain. You may choose any name; it is part of the keys in Redis.',
  }),
  CHAIN_ID: matching(/^[0-9a-fA-F]{64}$/, '64 hexadecimal characters')({ desc: 'Id of the chain.' }),
  CHAIN_HTTP: chainAddress(
    ['http:', 'https:'],
    'http://node:8888',
  )({
    desc: 'HTTP interface of your chain node.',
  }),
  CHAIN_SHIP: shipAddresses({
    desc: 'State-history websocket of your chain node, or those of several nodes, separated by commas.',
  }),
  START_BLOCK: whole(
    0,
    4294967295,
  )({
    default: 0,
    desc: 'First block to index. It must be below the first block that uses the contracts. 0: the first block that the node has.',
  }),
  START_BLOCK_OVERRIDE: bool({
    default: false,
    desc: 'Allow a START_BLOCK other than the known start block of the chain, and contracts that are added later. Data from earlier blocks will be missing.',
  }),
  ASSETS_ACCOUNT: account({ default: 'atomicassets', desc: 'Account of the assets contract.' }),
  MARKET_ACCOUNT: account({
    default: 'atomicmarket',
    desc: 'Account of the market contract; none: the market is not indexed.',
  }),
  ORACLE_ACCOUNT: account({
    default: 'delphioracle',
    desc: 'Account of the oracle contract; none: the oracle is not indexed. The market requires the oracle.',
  }),
  TOOLS_ACCOUNT: account({
    default: 'atomictoolsx',
    desc: 'Account of the tools contract; none: the tools are not indexed.',
  }),
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
    desc: 'Published port of HTTP. It redirects to HTTPS; with TLS_MODE=off it serves the API.',
  }),
  HTTPS_PORT: port({ default: 8443, desc: 'Published port of HTTPS.' }),
  TLS_MODE: oneWord(tlsModes)({
    default: 'selfsigned',
    desc: 'Source of the certificate. selfsigned: created at the first start; files: your own files in TLS_DIR; acme: an ACME authority; off: no TLS, behind a proxy of your own.',
  }),
  TLS_DIR: hostPath({
    default: './certificates',
    desc: 'Folder with fullchain.pem and privkey.pem, for TLS_MODE=files.',
  }),
  ACME_EMAIL: email({
    default: '',
    desc: 'E-mail address for messages from the ACME authority; required with TLS_MODE=acme.',
  }),
  ACME_DIRECTORY: webAddress({
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    desc: 'Directory of the ACME authority.',
  }),
  TRUSTED_PROXIES: networks({
    default: '',
    desc: 'Addresses (IP or CIDR, comma-separated) of proxies in front of the appliance. Their X-Forwarded-For header names the client address.',
  }),
  IPV6: bool({ default: false, desc: 'Listen on IPv6 as well; docker-compose.ipv6.yml sets it.' }),

  API_WORKERS: whole(
    0,
    256,
  )({ default: 0, desc: 'Number of processes in each api container; 0: one per core.' }),
  API_REPLICAS: whole(
    1,
    1_000,
  )({
    default: 2,
    desc: 'Number of api containers with docker-compose.scale.yml. PostgreSQL has connections for one container more, so that a container can be replaced while all others run.',
  }),

  POSTGRES_BUNDLED: bool({
    default: true,
    desc: 'Run the bundled PostgreSQL. false: use your own server at POSTGRES_HOST.',
  }),
  DATA_LOCATION: hostPath({
    default: '',
    desc: 'Folder of this machine for the data of the bundled PostgreSQL. If it is not set, the data are in a Docker volume.',
  }),
  POSTGRES_HOST: hostName({ default: BUNDLED_POSTGRES, desc: 'Host of PostgreSQL.' }),
  POSTGRES_PORT: port({ default: 5432, desc: 'Port of PostgreSQL.' }),
  POSTGRES_DATABASE: databaseName({
    default: 'pronghorn',
    desc: 'Name of the database. Each chain needs its own database.',
  }),
  POSTGRES_SUPERUSER: matching(
    /^[a-z_][a-z0-9_]{0,62}$/,
    'a lower-case name of at most 63 characters',
  )({
    default: 'postgres',
    desc: 'Role that creates the database and the roles of the services.',
  }),
  POSTGRES_SUPERUSER_PASSWORD_FILE: hostPath({
    default: '',
    desc: 'File with the password of POSTGRES_SUPERUSER on your own PostgreSQL. The password of the bundled PostgreSQL is created at the first start.',
  }),
  POSTGRES_REPLICAS: replicas({
    default: '',
    desc: 'Streaming replicas from which the api may read (host:port, comma-separated).',
  }),
  PG_MEMORY: memory({
    default: 4 * 2 ** 30,
    desc: 'Memory for PostgreSQL, such as 32g: the limit of the container, from which the memory settings of PostgreSQL are computed.',
  }),
  CONFIG_FILES: hostPath({
    default: '',
    desc: 'Folder with your own JSON files (connections.config.json, server.config.json, readers.config.json). They replace the files that are rendered from variables.',
  }),
  REDIS_BUNDLED: bool({
    default: true,
    desc: 'Run the bundled Redis. false: use your own server at REDIS_HOST.',
  }),
  REDIS_HOST: hostName({ default: BUNDLED_REDIS, desc: 'Host of Redis.' }),
  REDIS_PORT: port({ default: 6379, desc: 'Port of Redis.' }),
  GRAPHQL_CONSOLE: bool({
    default: false,
    desc: 'Serve the Hasura console and its admin interfaces at /console.',
  }),
  GRAPHQL_ROW_LIMIT: whole(
    1,
    100_000,
  )({
    default: 100,
    desc: 'Maximum number of rows in a GraphQL list, also in a nested one.',
  }),
  GRAPHQL_RATE_LIMIT: whole(
    1,
    10_000,
  )({
    default: 10,
    desc: 'Maximum number of GraphQL queries per second from one address.',
  }),
} as const
