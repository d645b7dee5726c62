import { isDeepStrictEqual } from 'node:util'
import { showFound } from './problems.ts'
import type { ConfigProblem } from './problems.ts'
import type { Path } from './path.ts'
import { formatPath, isObject } from './path.ts'

/** Section names of the connection file: name in the replaced system to current name. */
export const sectionAliases: Readonly<Record<string, string>> = { postgres: 'sqldb', redis: 'kvstore' }

/** Contract family names: name in the replaced system to current name. */
export const familyAliases: Readonly<Record<string, string>> = {
  atomicassets: 'assets',
  atomicmarket: 'market',
  atomictools: 'tools',
  delphioracle: 'oracle',
}

/** Argument names of namespaces and handlers: name in the replaced system to current name. */
export const argumentAliases: Readonly<Record<string, string>> = {
  atomicassets_account: 'assets_account',
  atomicmarket_account: 'market_account',
  atomictools_account: 'tools_account',
  delphioracle_account: 'oracle_account',
}

/** Environment variables: name in earlier versions to current name. Current names are derived from file and path. */
export const variableAliases: Readonly<Record<string, string>> = {
  PROVIDER_NAME: 'SERVER_PROVIDER_NAME',
  PROVIDER_URL: 'SERVER_PROVIDER_URL',
  CACHE_LIFE: 'SERVER_CACHE_LIFE',
  RATE_LIMIT_INTERVAL: 'SERVER_RATE_LIMIT_INTERVAL',
  RATE_LIMIT_REQUESTS: 'SERVER_RATE_LIMIT_REQUESTS',
  BILL_EXECUTION_TIME: 'SERVER_RATE_LIMIT_BILL_EXECUTION_TIME',
  SLOW_QUERY_THRESHOLD: 'SERVER_SLOW_QUERY_THRESHOLD',
  MAX_QUERY_TIME_MS: 'SERVER_MAX_QUERY_TIME_MS',
  MAX_DB_CONNECTIONS: 'SERVER_MAX_DB_CONNECTIONS',
  DISABLE_V1_SALES: 'SERVER_MARKET_API_FEATURES_DISABLE_V1_SALES',
  START_BLOCK: 'READER_START_BLOCK',
  START_BLOCK_OVERRIDE: 'READER_START_BLOCK_OVERRIDE',
  STOP_BLOCK: 'READER_STOP_BLOCK',
  IRREVERSIBLE_ONLY: 'READER_IRREVERSIBLE_ONLY',
  DB_GROUP_BLOCKS: 'READER_DB_GROUP_BLOCKS',
  SHIP_PREFETCH_BLOCKS: 'READER_SHIP_PREFETCH_BLOCKS',
}

/** Content of a configuration file with all former setting names replaced, and a record of the replacements. */
export interface Normalized {
  readonly value: unknown
  /** For each renamed key: maps the path with current names to the path in the file, which contains former names. */
  readonly written: ReadonlyMap<string, Path>
  /** One problem for each key that the file contains under its former and its current name, with different values. */
  readonly problems: readonly ConfigProblem[]
}

interface Progress {
  readonly file: string
  readonly written: Map<string, Path>
  readonly problems: ConfigProblem[]
}

function start(file: string): Progress {
  return { file, written: new Map(), problems: [] }
}

/** Replaces former names in `connections.config.json` by current names. */
export function normalizeConnections(file: string, value: unknown): Normalized {
  const progress = start(file)
  return { ...progress, value: renameKeys(value, [], sectionAliases, progress) }
}

/** Replaces former names in `server.config.json` by current names. */
export function normalizeServer(file: string, value: unknown): Normalized {
  const progress = start(file)
  if (!isObject(value) || !Array.isArray(value.namespaces)) return { ...progress, value }
  const namespaces = value.namespaces.map((each, index) =>
    normalizeFamily(each, ['namespaces', index], 'name', progress),
  )
  return { ...progress, value: { ...value, namespaces } }
}

/** Replaces former names in `readers.config.json` by current names. */
export function normalizeReaders(file: string, value: unknown): Normalized {
  const progress = start(file)
  if (!Array.isArray(value)) return { ...progress, value }
  const readers = value.map((reader: unknown, at) => {
    if (!isObject(reader) || !Array.isArray(reader.contracts)) return reader
    const contracts = reader.contracts.map((each, index) =>
      normalizeFamily(each, [at, 'contracts', index], 'handler', progress),
    )
    return { ...reader, contracts }
  })
  return { ...progress, value: readers }
}

/** Replaces former names in one namespace or handler: the family name under `key`, and the keys of `args`. */
function normalizeFamily(value: unknown, path: Path, key: string, progress: Progress): unknown {
  if (!isObject(value)) return value
  const renamed = { ...value }
  const family = value[key]
  if (typeof family === 'string' && Object.hasOwn(familyAliases, family)) renamed[key] = familyAliases[family]
  if ('args' in value) renamed.args = renameKeys(value.args, [...path, 'args'], argumentAliases, progress)
  return renamed
}

function renameKeys(
  value: unknown,
  path: Path,
  aliases: Readonly<Record<string, string>>,
  progress: Progress,
): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => {
    const name = Object.hasOwn(aliases, key) ? aliases[key] : undefined
    if (name === undefined) return [key, each]
    if (!Object.hasOwn(value, name)) {
      progress.written.set(formatPath([...path, name]), [...path, key])
    } else if (!isDeepStrictEqual(each, value[name])) {
      progress.problems.push({
        file: progress.file,
        path: formatPath([...path, key]),
        found: showFound([key], each),
        allowed: `only one of "${key}" and "${name}", or the same value for both, because both are names of one setting; the value of "${name}" is ${showFound([name], value[name])}`,
      })
      // If the file has the former and the current name, keep and validate the value of the current name.
      return [name, value[name]]
    }
    return [name, each]
  })
  return Object.fromEntries(entries)
}
