import { listVariables } from '../../services/appliance/index.ts'
import { settingVariables } from '../../services/core/config/environment/index.ts'

/** A section of `.env.example`: comments, and variables with their defaults. */
interface Group {
  readonly title: string
  readonly lines: readonly string[]
}

const WIDTH = 120
const NAME = /^[A-Z][A-Z0-9_]*$/

const HEAD = `# Settings of the appliance. Without a file .env the appliance serves the bundled demo chain. To index another chain:
#
#   cp .env.example .env       then set the four variables below, and: scripts/check && docker compose up -d --wait
#
# \`scripts/check\` lists all errors, also unknown names, and changes nothing. This file has the most common variables;
# docs/settings.md lists the variable of every key of the configuration files.

# --- The four variables -----------------------------------------------------------------------------------------------
# Name of a known chain (wax-mainnet, wax-testnet, eos-mainnet, proton-mainnet, proton-testnet, telos-mainnet, jungle4);
# it sets the chain id and the start block. For another chain set CHAIN_NAME and CHAIN_ID (64 hexadecimal characters).
CHAIN=wax-mainnet
# HTTP API of your chain node. The node needs trace-history and chain-state-history; see docs/operate.md.
CHAIN_HTTP=http://node.example.org:8888
# State-history address of the node. Several addresses, separated by commas, are read at the same time.
CHAIN_SHIP=ws://node.example.org:8080
# The public name of this service.
DOMAIN=localhost

# Leave this line as it is: without it, the demo chain and its node are started as well.
COMPOSE_FILE=docker-compose.yml`

const groups: readonly Group[] = [
  {
    title: 'TLS',
    lines: [
      'selfsigned: a certificate is created at the first start. files: fullchain.pem and privkey.pem in TLS_DIR.',
      "acme: an authority such as Let's Encrypt; DOMAIN must resolve to this machine, and port 80 must lead to HTTP_PORT.",
      'acme also needs ACME_EMAIL and COMPOSE_PROFILES=acme (together with GraphQL: COMPOSE_PROFILES=acme,graphql).',
      'off: HTTP without TLS at HTTP_PORT, behind a proxy of your own.',
      ...['TLS_MODE', 'TLS_DIR', 'ACME_EMAIL', 'ACME_DIRECTORY', 'HTTP_PORT', 'HTTPS_PORT'],
      'Addresses (IP or CIDR, comma-separated) of proxies in front of the appliance, whose X-Forwarded-For header is trusted.',
      'TRUSTED_PROXIES',
      'Accept clients over IPv6. COMPOSE_FILE=docker-compose.yml:docker-compose.ipv6.yml sets this variable.',
      'IPV6',
    ],
  },
  {
    title: 'Chain',
    lines: [
      ...['CHAIN_NAME', 'CHAIN_ID'],
      'First block to index; it must be below the first block that uses the contracts.',
      'For a chain with a known start block, CHAIN sets START_BLOCK.',
      'For a chain with a known start block, any other START_BLOCK is refused unless START_BLOCK_OVERRIDE=true.',
      ...['START_BLOCK', 'START_BLOCK_OVERRIDE', 'STOP_BLOCK'],
      'Accounts of the contracts. A contract with the account none is not indexed.',
      ...['ASSETS_ACCOUNT', 'MARKET_ACCOUNT', 'ORACLE_ACCOUNT', 'TOOLS_ACCOUNT', 'READER_NAME'],
      ...['IRREVERSIBLE_ONLY', 'DB_GROUP_BLOCKS', 'SHIP_PREFETCH_BLOCKS'],
      'false makes the database smaller: the history of transfers or the logs are not stored.',
      ...['READER_ASSETS_STORE_TRANSFERS', 'READER_ASSETS_STORE_LOGS', 'READER_MARKET_STORE_LOGS'],
      'Folder with your own configuration files, if you need settings that no variable sets, such as several readers (docs/operate.md).',
      'CONFIG_FILES',
    ],
  },
  {
    title: 'API',
    lines: [
      ...['PROVIDER_NAME', 'PROVIDER_URL', 'API_WORKERS', 'CACHE_LIFE'],
      ...['RATE_LIMIT_INTERVAL', 'RATE_LIMIT_REQUESTS', 'BILL_EXECUTION_TIME'],
      'Client addresses (IP or CIDR, comma-separated) whose requests are neither limited nor answered from the cache.',
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
      'Memory for PostgreSQL; its settings are computed from this amount. Recommended: half of the memory of the machine.',
      'PG_MEMORY',
      'Image of PostgreSQL, version 14 to 18. A change of the major version needs a backup and a restore.',
      'POSTGRES_IMAGE',
      'Folder of this machine for the database. To create it: sudo install -d -o 999 -g 999 -m 755 FOLDER',
      'DATA_LOCATION',
      'Your own PostgreSQL instead of the bundled one (docs/own-servers.md):',
      'POSTGRES_BUNDLED',
      ...['POSTGRES_HOST', 'POSTGRES_PORT', 'POSTGRES_DATABASE', 'POSTGRES_SUPERUSER'],
      'File with the password of POSTGRES_SUPERUSER. The user with the id 1000 must be able to read the file.',
      'No variable contains the password itself, because `docker inspect` shows variables.',
      'POSTGRES_SUPERUSER_PASSWORD_FILE',
      'TLS to PostgreSQL: off; require: any certificate; verify-full: a certificate for POSTGRES_HOST of a trusted authority.',
      ...['POSTGRES_SSL_MODE', 'POSTGRES_SSL_CA_FILE', 'POSTGRES_SSL_CERT_FILE', 'POSTGRES_SSL_KEY_FILE'],
      'Streaming replicas from which the api may read (host:port, comma-separated).',
      'POSTGRES_REPLICAS',
      'Your own Redis instead of the bundled one (docs/own-servers.md):',
      ...['REDIS_BUNDLED', 'REDIS_HOST', 'REDIS_PORT'],
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
      'Folder of the backups. Its owner must be the user that writes them: install -d -o 999 -g 999 backups',
      'BACKUP_DIR',
      'Hours between backups, and the time (UTC) of the first backup of a day.',
      'By default the newest 7 backups are retained, and one backup a week for 4 weeks.',
      ...['BACKUP_HOURS', 'BACKUP_AT', 'BACKUP_KEEP', 'BACKUP_KEEP_WEEKS'],
      'Days between two checks that restore a backup and compare the restored database; 0: never.',
      'BACKUP_CHECK_DAYS',
      'Program that is called after each backup with the name and the folder of the backup, for example to copy it.',
      'BACKUP_HOOK',
      'Image of the backup container: the image of PostgreSQL with the tools that BACKUP_HOOK needs.',
      'BACKUP_IMAGE',
      'Number of tables that a backup or a restore processes at the same time. If it is not set: one per core.',
      'BACKUP_JOBS',
    ],
  },
  {
    title: 'Monitoring (COMPOSE_PROFILES=monitoring)',
    lines: [
      'Port of the dashboards on this machine. docs/operate.md, "Monitoring", explains where the password is.',
      ...['GRAFANA_PORT', 'PROMETHEUS_DAYS'],
    ],
  },
  {
    title: 'Containers',
    lines: [
      'LOG_LEVEL',
      'Released image to pull. If it is not set, the image is built on this machine.',
      ...['PRONGHORN_IMAGE', 'FILLER_MEMORY', 'API_MEMORY'],
      'Number of processors that a container may use; 0: all.',
      ...['POSTGRES_CPUS', 'FILLER_CPUS', 'API_CPUS', 'NGINX_CPUS', 'BACKUP_CPUS'],
      'Number of api containers with docker-compose.scale.yml (docs/scale.md).',
      'API_REPLICAS',
      'Tokens of the state service: lifetime, and maximum number per minute that one client address gets.',
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
