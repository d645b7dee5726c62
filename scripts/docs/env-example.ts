import { listVariables } from '../../services/appliance/index.ts'
import { settingVariables } from '../../services/core/config/environment/index.ts'

/** A section of `.env.example`: comments, and variables with their defaults. */
interface Group {
  readonly title: string
  readonly lines: readonly string[]
}

const WIDTH = 120
const NAME = /^[A-Z][A-Z0-9_]*$/

const HEAD = `# Settings of the appliance. Without an .env it serves the bundled demo chain; for a chain of your own:
#
#   cp .env.example .env       then set the four lines below, and: scripts/check && docker compose up -d --wait
#
# \`scripts/check\` lists what is wrong without changing anything, also lines that nothing reads. These are the common
# variables; docs/settings.md names that of every key.

# --- The four lines ---------------------------------------------------------------------------------------------------
# A chain by name (wax-mainnet, wax-testnet, eos-mainnet, proton-mainnet, proton-testnet, telos-mainnet, jungle4): its
# id and start block. For another chain set CHAIN_NAME and CHAIN_ID (64 hexadecimal characters) instead.
CHAIN=wax-mainnet
# Your chain node: state history needs trace-history and chain-state-history; see docs/operate.md.
CHAIN_HTTP=http://node.example.org:8888
# Several nodes, separated by commas, are read from at the same time.
CHAIN_SHIP=ws://node.example.org:8080
# The public name of this service.
DOMAIN=localhost

# The real chain instead of the demo chain, whose node would start beside it. Leave this line as it is.
COMPOSE_FILE=docker-compose.yml`

const groups: readonly Group[] = [
  {
    title: 'TLS',
    lines: [
      'selfsigned: created at the first start. files: fullchain.pem and privkey.pem in TLS_DIR, read again when they change.',
      "acme: an authority such as Let's Encrypt; DOMAIN must lead here and HTTP_PORT must be reachable as port 80.",
      'acme needs ACME_EMAIL and COMPOSE_PROFILES=acme too (with graphql: COMPOSE_PROFILES=acme,graphql).',
      'off: plain HTTP at HTTP_PORT, behind a proxy of your own.',
      ...['TLS_MODE', 'TLS_DIR', 'ACME_EMAIL', 'ACME_DIRECTORY', 'HTTP_PORT', 'HTTPS_PORT'],
      'Addresses (IP or CIDR, comma-separated) of proxies in front of this one whose X-Forwarded-For is believed.',
      'TRUSTED_PROXIES',
      'Clients over IPv6: COMPOSE_FILE=docker-compose.yml:docker-compose.ipv6.yml sets this, with a network of both families.',
      'IPV6',
    ],
  },
  {
    title: 'Chain',
    lines: [
      ...['CHAIN_NAME', 'CHAIN_ID'],
      'First block to index, before the first use of the contracts. CHAIN sets it where it is known. Any other value is',
      'refused unless START_BLOCK_OVERRIDE=true.',
      ...['START_BLOCK', 'START_BLOCK_OVERRIDE', 'STOP_BLOCK'],
      'An account of none leaves the family out.',
      ...['ASSETS_ACCOUNT', 'MARKET_ACCOUNT', 'ORACLE_ACCOUNT', 'TOOLS_ACCOUNT', 'READER_NAME'],
      ...['IRREVERSIBLE_ONLY', 'DB_GROUP_BLOCKS', 'SHIP_PREFETCH_BLOCKS'],
      'Smaller databases: without the history of transfers, without logs.',
      ...['READER_ASSETS_STORE_TRANSFERS', 'READER_ASSETS_STORE_LOGS', 'READER_MARKET_STORE_LOGS'],
      'JSON files of your own, for what these lines cannot say (several readers): docs/operate.md.',
      'CONFIG_FILES',
    ],
  },
  {
    title: 'API',
    lines: [
      ...['PROVIDER_NAME', 'PROVIDER_URL', 'API_WORKERS', 'CACHE_LIFE'],
      ...['RATE_LIMIT_INTERVAL', 'RATE_LIMIT_REQUESTS', 'BILL_EXECUTION_TIME'],
      'Addresses (IP or CIDR, with commas) that are neither limited nor answered from the cache.',
      'SERVER_IP_WHITELIST',
      ...[
        'SLOW_QUERY_THRESHOLD',
        'MAX_QUERY_TIME_MS',
        'MAX_DB_CONNECTIONS',
        'DISABLE_V1_SALES',
        'SERVER_CONSOLE',
      ],
    ],
  },
  {
    title: 'PostgreSQL and Redis',
    lines: [
      'Memory for PostgreSQL: its settings follow from it. Half of the machine is a good value.',
      'PG_MEMORY',
      'Any image of PostgreSQL 14 to 18; a change of the major version needs a backup and a restore.',
      'POSTGRES_IMAGE',
      'A folder of this machine for the database: sudo install -d -o 999 -g 999 -m 755 FOLDER',
      'DATA_LOCATION',
      'Servers of your own instead of the bundled ones (docs/own-servers.md):',
      'POSTGRES_BUNDLED',
      ...['POSTGRES_HOST', 'POSTGRES_PORT', 'POSTGRES_DATABASE', 'POSTGRES_SUPERUSER'],
      'A file with its password, readable by the user with the number 1000 (`docker inspect` shows variables):',
      'POSTGRES_SUPERUSER_PASSWORD_FILE',
      'TLS: off, require (any certificate), verify-full (of a trusted authority, for POSTGRES_HOST). Files of this machine:',
      ...['POSTGRES_SSL_MODE', 'POSTGRES_SSL_CA_FILE', 'POSTGRES_SSL_CERT_FILE', 'POSTGRES_SSL_KEY_FILE'],
      'Streaming replicas that the api may read from (host:port, with commas).',
      ...['POSTGRES_REPLICAS', 'REDIS_BUNDLED', 'REDIS_HOST', 'REDIS_PORT'],
      ...['REDIS_USERNAME', 'REDIS_PASSWORD_FILE', 'REDIS_DATABASE', 'REDIS_TLS', 'REDIS_TLS_CA_FILE'],
    ],
  },
  {
    title: 'GraphQL (COMPOSE_PROFILES=graphql)',
    lines: ['COMPOSE_PROFILES=graphql', 'GRAPHQL_CONSOLE', 'GRAPHQL_ROW_LIMIT', 'GRAPHQL_RATE_LIMIT'],
  },
  {
    title: 'Backups (COMPOSE_PROFILES=backup)',
    lines: [
      'The folder belongs to the user that writes: install -d -o 999 -g 999 backups',
      'BACKUP_DIR',
      'A backup every so many hours, counted from a time of day (UTC); the newest 7 and one a week for 4 weeks are kept.',
      ...['BACKUP_HOURS', 'BACKUP_AT', 'BACKUP_KEEP', 'BACKUP_KEEP_WEEKS'],
      'A copy is restored and compared every so many days; 0: never.',
      'BACKUP_CHECK_DAYS',
      'A program that is called with the name and the folder of each new backup, to copy it elsewhere.',
      'BACKUP_HOOK',
      'An image with what that program needs, made from that of PostgreSQL.',
      'BACKUP_IMAGE',
      'Processes that read or write tables at the same time; one for each core when absent.',
      'BACKUP_JOBS',
    ],
  },
  {
    title: 'Monitoring (COMPOSE_PROFILES=monitoring)',
    lines: [
      'The dashboards are at this port of this machine; the password: docs/operate.md, "Monitoring".',
      ...['GRAFANA_PORT', 'PROMETHEUS_DAYS'],
    ],
  },
  {
    title: 'Containers',
    lines: [
      'LOG_LEVEL',
      'A released image to pull; without it the image is built here.',
      ...['PRONGHORN_IMAGE', 'FILLER_MEMORY', 'API_MEMORY'],
      'Processors that a container may use; 0: all of them.',
      ...['POSTGRES_CPUS', 'FILLER_CPUS', 'API_CPUS', 'NGINX_CPUS', 'BACKUP_CPUS'],
      'Containers of the api with docker-compose.scale.yml (docs/scale.md).',
      'API_REPLICAS',
      'Tokens of the state service.',
      ...['STATE_TOKEN_TTL_SECONDS', 'STATE_TOKENS_PER_MINUTE'],
    ],
  },
]

/** Text of `.env.example`: the variables that operators set most, commented out with their defaults. */
export function renderEnvExample(): string {
  const defaults = collectDefaults()
  const parts = groups.map(({ title, lines }) => [
    `# --- ${title} `.padEnd(WIDTH, '-'),
    ...lines.map((line) => (NAME.test(line) ? `# ${line}=${defaultOf(line, defaults)}` : `# ${line}`)),
  ])
  return `${[HEAD, ...parts.map((lines) => lines.join('\n'))].join('\n\n')}\n`
}

function defaultOf(name: string, defaults: ReadonlyMap<string, string>): string {
  const text = defaults.get(name)
  if (text === undefined) throw new Error(`.env.example has ${name}, which nothing reads`)
  return text === '[]' || (name === 'START_BLOCK' && text === '0') ? '' : text
}

function collectDefaults(): Map<string, string> {
  const { appliance, shipped } = listVariables()
  return new Map([
    ...settingVariables.flatMap((setting) =>
      [setting.name, ...setting.aliases].map((name): [string, string] => [
        name,
        shipped.get(setting.name) ?? '',
      ]),
    ),
    ...appliance.map(({ name, defaultText }): [string, string] => [name, defaultText]),
  ])
}
