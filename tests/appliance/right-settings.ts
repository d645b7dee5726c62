import { client } from './certificates.ts'

const CHAIN = 'CHAIN=wax-mainnet\nCHAIN_HTTP=http://10.0.0.5:8888\nCHAIN_SHIP=ws://10.0.0.5:8080\n'
const REAL = `${CHAIN}DOMAIN=nft.guild.test\nCOMPOSE_FILE=docker-compose.yml\n`
const POSTGRES =
  'POSTGRES_BUNDLED=false\nPOSTGRES_HOST=db.guild.test\nPOSTGRES_SUPERUSER_PASSWORD_FILE=./secrets/superuser\n'
const REDIS = 'REDIS_BUNDLED=false\nREDIS_HOST=redis.guild.test\n'

/** Content of mounted files, by the variable that names the file. */
export const rightFiles: Readonly<Record<string, string>> = {
  POSTGRES_SUPERUSER_PASSWORD_FILE: 'of the superuser\n',
  SQLDB_SSL_CA_FILE: client.certificate,
  SQLDB_SSL_CERT_FILE: client.certificate,
  SQLDB_SSL_KEY_FILE: client.key,
  SQLDB_PASSWORD_FILE: 'of the role\n',
  KVSTORE_TLS_CA_FILE: client.certificate,
  KVSTORE_PASSWORD_FILE: 'of redis\n',
}

/** Compose files of an operator; some use variables of their own. */
export const rightProject: Readonly<Record<string, string>> = {
  'docker-compose.yml': 'services: {api: {}}',
  'docker-compose.ipv6.yml': 'networks: {outside: {}}',
  'docker-compose.scale.yml': 'services: {replica: {}}',
  'guild.yml': `services:
  proxy: { image: 'traefik:\${TRAEFIK_VERSION:-3}', labels: ['rule=Host(\`$GUILD_HOST\`)'] }
  mailer: { environment: [MAIL_TOKEN, LEVEL=info] }
  bot: { environment: { BOT_TOKEN: , LEVEL: info } }
secrets:
  key: { environment: GUILD_KEY }
`,
}

/** Valid .env files, each with a description. */
export const right: readonly (readonly [what: string, text: string])[] = [
  ['a chain by its name', REAL],
  [
    'an unknown chain with its id',
    'CHAIN_NAME=mine\nCHAIN_ID=' +
      `${'ab'.repeat(32)}\nCHAIN_HTTP=https://rpc.guild.test/v1/key\nCHAIN_SHIP=wss://ship.guild.test\n`,
  ],
  ['two nodes', REAL.replace('ws://10.0.0.5:8080', 'ws://10.0.0.5:8080, wss://b.guild.test/ship')],
  ['a node at an IPv6 address', REAL.replaceAll('10.0.0.5', '[2001:db8::5]')],
  ['a node in a container', REAL.replaceAll('10.0.0.5', 'nodeos_ship-1')],
  ['PostgreSQL on another host', `${REAL}${POSTGRES}`],
  [
    'PostgreSQL with TLS and a client certificate',
    `${REAL}${POSTGRES}POSTGRES_SSL_MODE=verify-full\nPOSTGRES_SSL_CA_FILE=./tls/ca.pem\n` +
      'POSTGRES_SSL_CERT_FILE=./tls/client.pem\nPOSTGRES_SSL_KEY_FILE=./tls/client.key\n',
  ],
  [
    'PostgreSQL at an IPv6 address',
    `${REAL}${POSTGRES.replace('db.guild.test', '2001:db8::7')}POSTGRES_PORT=6432\n`,
  ],
  ['a superuser named after the appliance', `${REAL}${POSTGRES}POSTGRES_SUPERUSER=pronghorn_admin\n`],
  ['a managed PostgreSQL', `${REAL}${POSTGRES}POSTGRES_SUPERUSER=rdsadmin\nPOSTGRES_SSL_MODE=require\n`],
  [
    'a role of the operator for the services',
    `${REAL}${POSTGRES}POSTGRES_USER=guild\nPOSTGRES_PASSWORD_FILE=./secrets/role\n`,
  ],
  ['PgBouncer in front of the bundled server', `${REAL}POSTGRES_HOST=pgbouncer\nPOSTGRES_PORT=6432\n`],
  ['Redis on another host', `${REAL}${REDIS}REDIS_PORT=6380\nREDIS_DATABASE=20\n`],
  [
    'Redis with TLS, a user and a password',
    `${REAL}${REDIS}REDIS_TLS=true\nREDIS_TLS_CA_FILE=./tls/redis.pem\nREDIS_USERNAME=guild\n` +
      'REDIS_PASSWORD_FILE=./secrets/redis\n',
  ],
  ['Redis at an IPv6 address', `${REAL}${REDIS.replace('redis.guild.test', 'fd00::6')}`],
  ['Redis with any certificate', `${REAL}${REDIS}REDIS_TLS=true\nREDIS_TLS_REJECT_UNAUTHORIZED=false\n`],
  ['another database of the bundled Redis', `${REAL}REDIS_DATABASE=3\nREDIS_PORT=6379\nREDIS_TLS=false\n`],
  ['PostgreSQL and Redis on other hosts', `${REAL}${POSTGRES}${REDIS}`],
  [
    'clients over IPv6',
    `${CHAIN}COMPOSE_FILE=docker-compose.yml:docker-compose.ipv6.yml\nIPV6_SUBNET=fd00:1::/64\n`,
  ],
  [
    'a certificate of an authority',
    `${REAL}TLS_MODE=acme\nHTTP_PORT=80\nHTTPS_PORT=443\nACME_EMAIL=ops@guild.test\nCOMPOSE_PROFILES=acme,graphql\n`.replace(
      'nft.guild.test',
      'nft.antelope.io',
    ),
  ],
  ['behind another proxy', `${REAL}TLS_MODE=off\nHTTP_PORT=8000\nTRUSTED_PROXIES=10.0.0.0/8,2001:db8::/32\n`],
  [
    'replicas and containers of the api',
    `${CHAIN}COMPOSE_FILE=docker-compose.yml:docker-compose.scale.yml\nAPI_REPLICAS=3\n` +
      'POSTGRES_REPLICAS=replica:5432,[2001:db8::8]:5433,third\n',
  ],
  [
    'a compose file of the operator',
    `${CHAIN}COMPOSE_FILE=docker-compose.yml:guild.yml\nTRAEFIK_VERSION=3.1\nGUILD_HOST=a.test\n` +
      'MAIL_TOKEN=x\nBOT_TOKEN=y\nGUILD_KEY=z\n',
  ],
  [
    'a compose file in another folder',
    `${CHAIN}COMPOSE_FILE=docker-compose.yml:/srv/guild.yml\nTRAEFIK_VERSION=3.1\n`,
  ],
  [
    'a variable to which other lines refer',
    `GUILD=guild.test\n${CHAIN}DOMAIN=nft.\${GUILD}\nPROVIDER_URL="https://\${GUILD}/"\n`,
  ],
  [
    'two readers in a file of the operator',
    `${REAL}CONFIG_FILES=./config\nSTOP_BLOCK=70000000\nSERVER_TOOLS_CONNECTED_READER=tools\n`,
  ],
  [
    'lists, limits and texts',
    `${REAL}SERVER_CORS='^https://app[.]guild[.]test$'\nSERVER_IP_WHITELIST=["192.0.2.1","2001:db8::/32"]\n` +
      'READER_LIST_POLLS=[{"url":"https://lists.guild.test/all?key=x"}]\nPROVIDER_NAME="Z\u00fcrich \\"Guild\\" # 1"\n',
  ],
  [
    'families left out, state stored',
    `${REAL}MARKET_ACCOUNT=none\nORACLE_ACCOUNT=none\nREADER_STATE_ACCOUNTS=atomicassets\nSTATE_METRICS_PORT=0\n`,
  ],
  [
    'paths, ports and a metrics address',
    `${REAL}SERVER_MARKET_PATH=/shop\nSERVER_MARKET_ALIASES=[]\nSERVER_METRICS_ADDR=::\nSERVER_TLS_PROXY=[::1]:8443\n`,
  ],
  [
    'a schedule of backups, memory and processors',
    `${REAL}BACKUP_AT=23:30\nBACKUP_KEEP=14\nPG_MEMORY=512m\nFILLER_MEMORY=0.5G\nAPI_CPUS=0.5\n`,
  ],
  [
    'images of a registry of the operator',
    `${REAL}REDIS_IMAGE=registry.guild.test:5000/mirror/redis:7.2\nNGINX_IMAGE=nginx@sha256:${'ab'.repeat(32)}\n` +
      'PRONGHORN_IMAGE=localhost/pronghorn\n',
  ],
  ['proxies with spaces between', `${REAL}TRUSTED_PROXIES="10.0.0.0/8, 172.16.0.0/12"\n`],
  [
    'a certificate of an ACME authority of the operator',
    `${REAL}TLS_MODE=acme\nACME_DIRECTORY=https://ca.guild.test/directory\nACME_EMAIL=ops@guild.test\nCOMPOSE_PROFILES=acme\n`,
  ],
  ['no address of the provider', `${REAL}PROVIDER_URL=\n`],
  [
    'paths that begin like those of the proxy',
    `${REAL}SERVER_ASSETS_PATH=/states\nSERVER_MARKET_PATH=/shop/state\n`,
  ],
  [
    'other settings of Compose',
    `${REAL}COMPOSE_PARALLEL_LIMIT=4\nCOMPOSE_IGNORE_ORPHANS=True\nCOMPOSE_PROGRESS=plain\nDOCKER_DEFAULT_PLATFORM=linux/arm64\n`,
  ],
  [
    'one host with a primary and a replica at another port',
    `${REAL}${POSTGRES}POSTGRES_REPLICAS=db.guild.test:5433\n`,
  ],
  ['a byte order mark at the start', `\ufeff${REAL}`],
  ['every line exported, within quotes', REAL.replaceAll(/^(\w+)=(.*)$/gm, "export $1='$2'")],
  ['spaces and tabs around names and values', `${REAL} \tCACHE_LIFE \t=\t 5 \n`],
  ['no line end after the last line', REAL.trimEnd()],
  ['an e-mail address with a tag', `${REAL}TLS_MODE=selfsigned\nACME_EMAIL=ops+nft@guild.test\n`],
  ['a password of special characters for the bundled Redis', `${REAL}REDIS_PASSWORD=p#a$$s!w%\\rd\n`],
  [
    'other ports of the metrics',
    `${REAL}STATE_METRICS_PORT=9111\nSERVER_METRICS_PORT=9111\nCOMPOSE_PROFILES=graphql, monitoring\n`,
  ],
  ['a node of this machine', REAL.replaceAll('10.0.0.5', 'localhost')],
]
