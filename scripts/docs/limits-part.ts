import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiLimits } from '../../services/api/index.ts'
import { describeSettings } from '../../services/core/config/description/index.ts'
import { stateVariables } from '../../services/core/config/environment/index.ts'
import type { Limit } from '../../services/core/limits/index.ts'
import { chainLimits } from '../../services/filler/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { stateLimits } from '../../services/state/index.ts'
import { code, table } from './markdown.ts'

/** The limits of `docs/security.md`: one table per service. */
export function renderLimits(): string[] {
  return [
    'The column "Limit" shows the default of the setting in the first column ([settings](settings.md)). ' +
      'An address is the client address as `trust_proxy` determines it; for IPv6 it is the first 56 bits. ' +
      '"Of one api" is a limit of all processes of the api together.',
    '### Proxy',
    limitTable(readProxyLimits()),
    '### REST',
    limitTable(apiLimits.requests),
    '### Live data',
    limitTable(apiLimits.live, 'live.'),
    '### State service',
    limitTable(stateLimits),
    '### Chain node',
    limitTable(chainLimits),
  ]
}

/**
 * A table of limits.
 * @param prefix prefix of the settings in server.config.json.
 */
export function limitTable(limits: readonly Limit[], prefix = ''): string {
  return table(
    ['Setting', 'What is counted', 'Of one', 'Limit', 'Beyond it'],
    limits.map(({ setting, counts, per, value, beyond }) => [
      setting === undefined ? '' : code(prefix + setting),
      counts,
      per,
      value ?? defaultOf(prefix + setting!),
      beyond,
    ]),
  )
}

/**
 * Default of a setting.
 * @throws Error for an unknown name.
 */
function defaultOf(key: string): string {
  const variable = stateVariables.find(({ name }) => name === key)
  if (variable) return variable.defaultValue
  const row = describeSettings().find((each) => each.file === 'server.config.json' && each.key === key)
  if (!row) throw new Error(`no setting is called ${key}`)
  return row.defaultValue === null || row.defaultValue === '' ? 'none' : withCommas(row.defaultValue)
}

function withCommas(text: string): string {
  return /^\d+$/.test(text) ? Number(text).toLocaleString('en-US') : text
}

/** Limits of nginx, read from its configuration templates. */
function readProxyLimits(): readonly Limit[] {
  const read = (file: string): string => readFileSync(join(packageRoot, 'config-templates', file), 'utf8')
  const [main, routes] = [read('nginx.conf.template'), read('nginx-routes.conf.template')]
  const of = (text: string, directive: string): string => {
    const found = new RegExp(`^\\s*${directive} ([^;]+);`, 'm').exec(text)
    if (!found) throw new Error(`the template of nginx has no ${directive}`)
    return found[1]!
  }
  const bodies = [...routes.matchAll(/client_max_body_size ([^;]+);/g)].map(([, size]) => size!)
  return [
    {
      counts: 'connections with a request',
      per: 'address',
      value: of(main, 'limit_conn addresses'),
      beyond: '429',
    },
    {
      counts: 'connections with a request',
      per: 'proxy',
      value: of(main, 'limit_conn everybody'),
      beyond: '429',
    },
    {
      counts: 'streams of HTTP/2',
      per: 'connection',
      value: of(main, 'http2_max_concurrent_streams'),
      beyond: 'refused',
    },
    {
      counts: 'bytes of a body',
      per: 'request',
      value: `${of(main, 'client_max_body_size')}; of some routes ${[...new Set(bodies)].join(', ')}`,
      beyond: '413',
    },
    {
      counts: 'time for the headers',
      per: 'request',
      value: of(main, 'client_header_timeout'),
      beyond: '408',
    },
    {
      counts: 'time between two parts of a request body',
      per: 'request',
      value: of(main, 'client_body_timeout'),
      beyond: '408',
    },
    {
      counts: 'time in which a client reads nothing of the response',
      per: 'connection',
      value: of(main, 'send_timeout'),
      beyond: 'the connection closes',
    },
    {
      counts: 'GraphQL: requests in progress',
      per: 'address',
      value: of(routes, 'limit_conn graphql_addresses'),
      beyond: '429',
    },
    {
      counts: 'GraphQL: requests in progress',
      per: 'proxy',
      value: of(routes, 'limit_conn graphql_everybody'),
      beyond: '429',
    },
    {
      setting: 'GRAPHQL_RATE_LIMIT',
      counts: 'GraphQL: requests in a second',
      per: 'address',
      value: 'as set in `.env`',
      beyond: '429',
    },
  ]
}
