import { z } from 'zod'
import { isAddressRange } from '../address/index.ts'
import {
  accountName,
  addressRange,
  flag,
  hostAndPort,
  hostName,
  integer,
  list,
  oneOf,
  port,
  section,
  text,
  textLike,
  url,
} from '../fields.ts'
import { readerName } from './readers-schema.ts'

const rateLimit = section({
  interval: integer(1, 86400).describe(
    'Length of the interval (seconds) in which the requests of a client are counted. The count restarts after each interval.',
  ),
  requests: integer(1, 1_000_000_000).describe('Maximum number of requests per client in one interval.'),
  bill_execution_time: flag()
    .default(false)
    .describe('Whether each second that a request takes after its first second counts as one more request.'),
})

const proxyNames = ['loopback', 'linklocal', 'uniquelocal']
const isProxy = (value: string): boolean => proxyNames.includes(value) || isAddressRange(value)
const TRUST_ALLOWED =
  'true, false, the number of proxies (1 to 32), or addresses, address ranges, loopback, linklocal, uniquelocal'
const trustProxy = z
  .union(
    [
      z.boolean(),
      z.int().min(1, TRUST_ALLOWED).max(32, TRUST_ALLOWED),
      z.string().refine((value) => value.split(',').every((each) => isProxy(each.trim())), TRUST_ALLOWED),
      z
        .array(z.string(TRUST_ALLOWED).refine(isProxy, TRUST_ALLOWED))
        .min(1, TRUST_ALLOWED)
        .max(256, TRUST_ALLOWED),
    ],
    { error: TRUST_ALLOWED },
  )
  .meta({ allowed: TRUST_ALLOWED })

const ORIGIN_ALLOWED =
  'a regular expression of at most 500 characters, such as ^https://app[.]example[.]org$ (if the list is empty, every origin may call)'
const originPattern = z
  .string({ error: ORIGIN_ALLOWED })
  .min(1, { error: ORIGIN_ALLOWED })
  .max(500, { error: ORIGIN_ALLOWED })
  // `true` and `false` are refused: as patterns they match no origin, so every page would be refused.
  .refine((value) => isRegularExpression(value) && !/^(?:true|false)$/i.test(value), {
    error: ORIGIN_ALLOWED,
  })
  .meta({ allowed: ORIGIN_ALLOWED })

function isRegularExpression(value: string): boolean {
  try {
    new RegExp(value)
    return true
  } catch {
    return false
  }
}

const defaultLimits = {
  accounts: [5000, '/v1/accounts'],
  assets: [1000, '/v1/assets'],
  assets_accounts: [
    5000,
    'no route; the setting is accepted only because existing configuration files contain this key',
  ],
  auctions: [100, '/v1/auctions'],
  burns: [5000, '/v1/burns'],
  buyoffers: [100, '/v1/buyoffers and /v1/template_buyoffers'],
  collections: [1000, '/v1/collections'],
  links: [100, '/v1/links'],
  logs: [100, 'every /logs route'],
  offers: [100, '/v1/offers'],
  prices_templates: [1000, '/v1/prices/templates'],
  royalties: [100, '/v1/royalties'],
  sales: [100, '/v0/sales and the older /v1/sales'],
  sales_templates: [100, '/v1/sales/templates'],
  sales_v2: [100, '/v2/sales'],
  schemas: [1000, '/v1/schemas'],
  templates: [1000, '/v1/templates'],
  transfers: [100, '/v1/transfers'],
} as const satisfies Record<string, readonly [number, string]>

type LimitName = keyof typeof defaultLimits
type LimitField = z.ZodDefault<z.ZodInt>

const limits = section(
  Object.fromEntries(
    Object.entries(defaultLimits).map(([name, [limit, routes]]) => [
      name,
      integer(1, 100_000).default(limit).describe(`Largest page of ${routes}.`),
    ]),
  ) as Record<LimitName, LimitField>,
)

const commonArgs = {
  connected_reader: readerName()
    .optional()
    .describe(
      'Name of the reader whose blocks are published as live data. If not set, the namespace has no live data.',
    ),
  socket_features: section({
    asset_update: flag()
      .default(false)
      .describe('Send the events `back` and `update` to socket.io clients (assets namespace).'),
  })
    .prefault({ asset_update: true })
    .describe('Which live events are sent.'),
  api_features: section({
    disable_v1_sales: flag()
      .default(false)
      .describe(
        'Answer /v1/sales and /v1/sales/_count like /v2/sales and /v2/sales/_count (market namespace).',
      ),
  })
    .prefault({})
    .describe('Which routes are served.'),
  limits: limits.prefault({}).describe('Maximum value of the parameter `limit`, by route.'),
  enable_fast_asset_counts: flag()
    .default(false)
    .describe(
      'No effect: the api reads numbers of assets from stored counters if the counters have them. The key is accepted because configuration files of the replaced system contain it.',
    ),
}

const assetsAccount = () => accountName().describe('Account of the assets contract.')
const marketAccount = () => accountName().describe('Account of the market contract.')
const toolsAccount = () => accountName().describe('Account of the tools contract.')

const live = section({
  max_connections: integer(1, 1_000_000)
    .default(10_000)
    .describe('Maximum number of live connections of the api. Shared out among the processes of the api.'),
  connections_per_address: integer(1, 1_000_000)
    .default(250)
    .describe('Maximum number of live connections of one client address. Shared out among the processes.'),
  subscriptions_per_connection: integer(1, 10_000)
    .default(100)
    .describe('Maximum number of subscriptions of one plain websocket.'),
  values_per_subscription: integer(1, 100_000)
    .default(1_000)
    .describe('Maximum number of values in the filters of one subscription.'),
  max_message_bytes: integer(256, 1_048_576)
    .default(65_536)
    .describe('Maximum size of a message from a client (bytes); a longer message ends the connection.'),
  messages_per_second: integer(1, 10_000)
    .default(10)
    .describe(
      'Maximum number of messages that a client may send per second; for socket.io, packets of every kind count. A client that was silent for ten seconds may send the messages of ten seconds at once. A message above the limit ends the connection.',
    ),
  max_queue_bytes: integer(65_536, 1_073_741_824)
    .default(8_388_608)
    .describe(
      'Maximum number of bytes that a client has not read yet. Above the maximum, nothing more is sent until the client has read.',
    ),
})

const answerLimits = section({
  answer_bytes: integer(65_536, 1_073_741_824)
    .default(33_554_432)
    .describe(
      'Maximum size of an answer (bytes, before compression). A request for a larger answer is refused; the error names the largest page that fits.',
    ),
  answers_bytes: integer(65_536, 68_719_476_736)
    .default(268_435_456)
    .describe(
      'Maximum number of bytes of all answers in progress of a process; an answer counts until it has been sent. One client may use at most a quarter of these bytes, or the maximum size of one answer if that is larger.',
    ),
})

const namespacePath = () =>
  textLike(
    /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]{1,64}){1,8}$/,
    'a path such as /assets, without a slash at its end',
  )
const mount = {
  path: namespacePath().describe('Prefix of every endpoint of the namespace.'),
  aliases: list(namespacePath(), 16).default([]).describe('Further path prefixes of the same endpoints.'),
}
const ARGS = 'Arguments of the namespace.'

const assetsNamespace = section({
  name: z.literal('assets').describe('Contract family.'),
  ...mount,
  args: section({ assets_account: assetsAccount(), ...commonArgs }).describe(ARGS),
})
const marketNamespace = section({
  name: z.literal('market').describe('Contract family.'),
  ...mount,
  args: section({
    market_account: marketAccount(),
    assets_account: assetsAccount()
      .optional()
      .describe(
        'Account of the assets contract. Only used until the filler has stored the account, which the market contract names.',
      ),
    oracle_account: accountName()
      .optional()
      .describe(
        'Account of the oracle contract. No effect: the api uses the account that the market contract names.',
      ),
    ...commonArgs,
  }).describe(ARGS),
})
const toolsNamespace = section({
  name: z.literal('tools').describe('Contract family.'),
  ...mount,
  args: section({
    tools_account: toolsAccount(),
    assets_account: assetsAccount()
      .optional()
      .describe(
        'Account of the assets contract. Only used until the filler has stored the account, which the tools contract names.',
      ),
    ...commonArgs,
  }).describe(ARGS),
})

export const namespaceNames = ['assets', 'market', 'tools'] as const

/** Zod schema of an entry of `namespaces`. */
export const namespaceSchema = z.discriminatedUnion(
  'name',
  [assetsNamespace, marketNamespace, toolsNamespace],
  {
    error: (issue) =>
      typeof issue.input === 'object' && issue.input !== null
        ? oneOf(namespaceNames, Reflect.get(issue.input, 'name'))
        : 'an object { … }',
  },
)

const WEB_ADDRESS_ALLOWED = 'a URL such as https://example.org (http://, https://), or an empty text'
const webAddress = z
  .union([z.literal(''), url(['http', 'https'], 'https://example.org')], { error: WEB_ADDRESS_ALLOWED })
  .meta({ allowed: WEB_ADDRESS_ALLOWED })

/** Zod schema of `server.config.json`. */
export const serverSchema = section({
  provider_name: text(0, 200)
    .default('')
    .describe('Name of the operator of the service; shown in the documentation.'),
  provider_url: webAddress.default('').describe('URL of the provider; shown in the documentation.'),
  server_addr: hostName().default('0.0.0.0').describe('Address to listen on.'),
  server_name: text(0, 253).default('').describe('Public host name; shown in the documentation.'),
  server_port: port().default(9000).describe('Port to listen on.'),
  cache_life: integer(0, 31_536_000)
    .default(0)
    .describe('Seconds for which an answer is cached; 0 = no caching.'),
  cache_max_value_bytes: integer(0, 1_073_741_824)
    .default(2_000_000)
    .describe('Maximum size of the body of a cached answer (bytes); larger answers are not cached.'),
  cache_max_memory_bytes: integer(0, 68_719_476_736)
    .default(134_217_728)
    .describe(
      'Memory (bytes) of a process for cached answers. When the memory is full, the least recently used answers are removed.',
    ),
  trust_proxy: trustProxy
    .default(false)
    .describe('Proxies whose X-Forwarded-For header is trusted for the client address; true = one proxy.'),
  rate_limit: rateLimit
    .optional()
    .describe('Limit of requests for each client address. If not set, requests are not limited.'),
  ip_whitelist: list(addressRange(), 10_000)
    .default([])
    .describe('Client addresses whose requests are neither limited nor answered from the cache.'),
  peer_whitelist: list(addressRange(), 10_000)
    .default([])
    .describe(
      'Like ip_whitelist, but compares the address of the TCP connection, which no header can forge.',
    ),
  slow_query_threshold: integer(0, 86_400_000)
    .default(0)
    .describe('Duration (ms) from which a database query is logged as slow; 0 = no query is logged as slow.'),
  max_query_time_ms: integer(1, 86_400_000)
    .default(10_000)
    .describe('Maximum time of all database queries of a request, including the wait for a connection.'),
  max_db_connections: integer(1, 10_000)
    .default(50)
    .describe(
      'Maximum number of database connections of the api to each server. Shared out among the processes of the api.',
    ),
  max_list_queries: integer(1, 10_000)
    .optional()
    .describe(
      'Maximum number of requests for lists and statistics that use a database connection at the same time. Shared out among the processes. If not set: 1.5 requests per processor of this machine, and at least 2 per process.',
    ),
  max_body_bytes: integer(1_024, 104_857_600)
    .default(1_048_576)
    .describe('Maximum size of a request body (bytes), both as sent and decompressed.'),
  max_body_memory_bytes: integer(65_536, 68_719_476_736)
    .default(33_554_432)
    .describe(
      'Maximum number of bytes of all request bodies that a process is reading. One client may use at most a quarter of these bytes.',
    ),
  limits: answerLimits.prefault({}).describe('Limits of the size of answers.'),
  max_connections: integer(1, 1_000_000)
    .default(16_384)
    .describe(
      'Maximum number of connections to the api, of all kinds. Shared out among the processes of the api.',
    ),
  connections_per_address: integer(1, 1_000_000)
    .default(1_024)
    .describe(
      'Maximum number of connections of one address (IPv6: of one /56), of all kinds and including idle ones. Shared out among the processes. Connections of trusted proxies do not count.',
    ),
  metrics_port: port().optional().describe('Port of the metrics. If not set, metrics are not served.'),
  metrics_addr: hostName().optional().describe('Address that metrics_port listens on. Default: server_addr.'),
  tls_proxy: hostAndPort()
    .optional()
    .describe(
      'Host and port of the TLS proxy, such as nginx:8443. A metric shows when the certificate of the proxy expires.',
    ),
  console: flag()
    .default(true)
    .describe(
      'Whether browsers get the console at /: a page with the state of the service. If false, / answers with status 404.',
    ),
  seals: flag()
    .default(true)
    .describe(
      'Whether /seals is served. Other operators compare their history with the seals: see docs/seals.md.',
    ),
  cors: list(originPattern, 256)
    .default([])
    .describe(
      'Origins of the web pages that may call the api: regular expressions, each matched anywhere in the origin; empty = every origin. The proxy of the appliance applies the list also to the state service, to GraphQL and to its own error answers. A state service without this proxy accepts every origin.',
    ),
  live: live.prefault({}).describe('Limits of live connections: websockets, event streams, socket.io.'),
  namespaces: list(namespaceSchema, 32, 1).describe('The namespaces that are served, with their paths.'),
})

/** Type of a validated `server.config.json` with all defaults. */
export type ServerConfig = z.output<typeof serverSchema>
/** Type of an entry of `namespaces`; `name` determines the `args`. */
export type NamespaceConfig = z.output<typeof namespaceSchema>
/** Name of a contract family that can be served. */
export type NamespaceName = NamespaceConfig['name']
