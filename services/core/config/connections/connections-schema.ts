import { z } from 'zod'
import { HOST_ALLOWED, isHost } from '../address/index.ts'
import {
  blockNumber,
  choice,
  flag,
  hostName,
  integer,
  list,
  port,
  section,
  text,
  textLike,
  url,
} from '../fields.ts'

const SOCKET_FOLDER = /^\/[^\p{Cc}]{0,1000}$/u
const DATABASE_HOST_ALLOWED = `${HOST_ALLOWED}, or the directory of a unix socket`
const databaseHost = () =>
  z
    .string({ error: DATABASE_HOST_ALLOWED })
    .refine((value) => isHost(value) || SOCKET_FOLDER.test(value), { error: DATABASE_HOST_ALLOWED })
    .meta({ allowed: DATABASE_HOST_ALLOWED })
    .describe('Host of PostgreSQL, or the directory of its unix socket.')
const shipUrl = () => url(['ws', 'wss', 'ws+unix'], 'ws://node:8080')

const replica = section({
  host: databaseHost(),
  port: port().default(5432).describe('Port of the replica.'),
  user: text(1, 63).optional().describe('Role to log in with. Default: the role of the primary.'),
  password: text(0, 1024).optional().describe('Password of the role. Default: the password of the primary.'),
  database: text(1, 63)
    .optional()
    .describe('Name of the database. Default: the name of the primary database.'),
})

const file = (what: string) => text(1, 1024).optional().describe(what)

const ssl = section({
  mode: choice(['off', 'require', 'verify-full'])
    .default('off')
    .describe(
      'Encryption of connections to PostgreSQL. off: none. require: the server may show any certificate. verify-full: the certificate must be for the configured host, from a trusted authority.',
    ),
  ca_file: file(
    'File with the certificates of the trusted authorities (PEM). Default: the authorities that Node.js trusts.',
  ),
  cert_file: file('File with the certificate that this program shows to the server (PEM).'),
  key_file: file('File with the private key of the certificate in `cert_file` (PEM).'),
})

const sqldbKeys = section({
  host: databaseHost(),
  port: port().default(5432).describe('Port of PostgreSQL.'),
  user: text(1, 63).describe('Role to log in with.'),
  password: text(0, 1024)
    .default('')
    .describe('Password of the role; empty if the server asks for no password.'),
  password_file: text(1, 1024)
    .optional()
    .describe('File with the password, read for each new connection. Takes precedence over `password`.'),
  database: text(1, 63).describe('Name of the database. Each chain needs a database of its own.'),
  ssl: ssl
    .prefault({})
    .refine(({ mode, ca_file }) => ca_file === undefined || mode === 'verify-full', {
      path: ['ca_file'],
      error: 'nothing, unless `mode` is "verify-full"',
    })
    .refine(({ mode, cert_file }) => cert_file === undefined || mode !== 'off', {
      path: ['cert_file'],
      error: 'nothing, because `mode` is "off"',
    })
    .refine(({ cert_file, key_file }) => (cert_file === undefined) === (key_file === undefined), {
      path: ['key_file'],
      error: 'a file if and only if `cert_file` is set',
    })
    .describe('Encryption of the connections to the primary and to all replicas.'),
  replicas: list(replica, 64).default([]).describe('Streaming replicas that the api may read from.'),
})
const sqldb = sqldbKeys.superRefine(({ host, port: number, replicas }, context) => {
  const places = [{ host, port: number }, ...replicas].map(
    (each) => `${each.host.toLowerCase()} ${each.port}`,
  )
  for (const at of listRepeated(places)) {
    const message =
      places[at] === places[0]
        ? 'a replica at another address than the primary'
        : 'another replica: the list already contains this replica'
    context.addIssue({ code: 'custom', path: ['replicas', at - 1], message })
  }
})

/** Indexes of the texts that occur earlier in the list. */
function listRepeated(texts: readonly string[]): number[] {
  return texts.flatMap((text, at) => (texts.indexOf(text) < at ? [at] : []))
}

const TLS_ALLOWED = 'true, false, or an object with rejectUnauthorized and ca_file'
const tls = z
  .union(
    [
      z.boolean(),
      section({
        rejectUnauthorized: flag()
          .default(true)
          .describe('Whether a server with a certificate that cannot be verified is refused.'),
        ca_file: file('File with the certificates of the trusted authorities of Redis (PEM).'),
      }),
    ],
    { error: TLS_ALLOWED },
  )
  .meta({ allowed: TLS_ALLOWED })

const kvstore = section({
  host: hostName().describe('Host of Redis.'),
  port: port().default(6379).describe('Port of Redis.'),
  username: text(1, 256).optional().describe('User to log in with (Redis 6 and later).'),
  password: text(0, 1024).optional().describe('Password to log in with.'),
  password_file: file(
    'File with the password, read when a process starts. Takes precedence over `password`.',
  ),
  database: integer(0, 65_535).optional().describe('Number of the Redis database. Default: 0.'),
  tls: tls
    .default(false)
    .describe(
      'Encryption of the connections to Redis. false: none. true: TLS. An object: TLS with the given certificate checks.',
    ),
  connection_type: choice(['standalone'])
    .default('standalone')
    .describe('Type of the Redis server. A Redis cluster is not supported.'),
})

const shipNode = section({
  url: shipUrl().describe('State-history address of one of several nodes.'),
  weight: integer(1, 100)
    .default(1)
    .describe(
      'Weight of this node. While the reader catches up, it requests blocks from each node in proportion to the weights. At the head, it prefers the node with the greatest weight.',
    ),
  from: blockNumber()
    .default(0)
    .describe('First block that is requested from this node; 0 = the first block that the node has.'),
  to: blockNumber().default(0).describe('Last block that is requested from this node; 0 = no limit.'),
}).refine(({ from, to }) => to === 0 || from <= to, {
  path: ['to'],
  error: 'a block number not below `from`, or 0',
})

const shipAllowed = `${shipUrl().meta()?.allowed as string}, or a list of 1 to 16 such URLs or objects { url, weight, from, to }`
const shipEntryAllowed = `${shipUrl().meta()?.allowed as string}, or an object { url, weight, from, to }`
const shipEntry = z.union([shipUrl(), shipNode], { error: shipEntryAllowed })
const shipList = z
  .array(shipEntry)
  .min(1, shipAllowed)
  .max(16, shipAllowed)
  .superRefine((nodes, context) => {
    const places = nodes.map((node) =>
      typeof node === 'string' ? placeOf(node, 0, 0) : placeOf(node.url, node.from, node.to),
    )
    for (const at of listRepeated(places))
      context.addIssue({
        code: 'custom',
        path: [at],
        message: 'another node: the list already contains this node',
      })
  })
/**
 * Identifies a chain node of a list by address and block range, to find duplicates. Accepts any text as address,
 * because Zod runs the search for duplicates even if an entry is not a URL.
 */
const placeOf = (address: string, from: number, to: number): string =>
  `${URL.canParse(address) ? new URL(address).href : address} ${from} ${to}`
const ship = z.union([shipUrl(), shipList], { error: shipAllowed }).meta({ allowed: shipAllowed })

const chain = section({
  name: textLike(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits, dots, underscores or hyphens').describe(
    'Name of the chain. Filler and api must use the same name, because it is part of the keys in the key-value store.',
  ),
  chain_id: textLike(/^[0-9a-fA-F]{64}$/, '64 hexadecimal characters')
    .transform((id) => id.toLowerCase())
    .describe('Id of the chain; compared with the chain id of the node.'),
  http: url(['http', 'https'], 'http://node:8888').describe(
    'HTTP address of the chain node. A path in the address is a prefix of all requested paths; user and password are sent as a login.',
  ),
  ship: ship.describe(
    'State-history address of the chain node, or ws+unix:///path of a unix socket, or a list of nodes. While the reader catches up, all nodes of the list send ranges of blocks at the same time. At the head, one node streams the new blocks, and another node takes over when it fails. CHAIN_SHIP accepts addresses joined by commas. Weights and block ranges need a configuration file of your own; a unix socket needs a process outside the containers.',
  ),
})

/** Zod schema of `connections.config.json`. */
export const connectionsSchema = section({
  sqldb: sqldb.describe('PostgreSQL.'),
  kvstore: kvstore
    .optional()
    .describe('Redis. Default: a store inside each process, which other processes do not see.'),
  chain: chain.describe('The chain and its node.'),
})

/** Type of a validated `connections.config.json` with all defaults. */
export type ConnectionsConfig = z.output<typeof connectionsSchema>
/** Type of `chain.ship`: one node or several. */
export type ShipConfig = z.output<typeof ship>
/** Type of the `kvstore` section. */
export type KvstoreConfig = z.output<typeof kvstore>
/** Type of the `sqldb` section; assignable to `DatabaseAddress`. */
export type SqldbConfig = z.output<typeof sqldb>
