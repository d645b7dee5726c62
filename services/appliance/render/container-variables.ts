import { stateVariables } from '../../core/config/environment/index.ts'
import ipaddr from 'ipaddr.js'
import { logLevels } from '../../core/log/index.ts'
import { makeValidator } from 'envalid'
import { knownChains } from '../../core/config/schema/index.ts'
import { images } from '../../core/images/index.ts'
import { hostPath, matching, memory, oneWord, port, whole } from './variables.ts'

const MAX_BACKUPS = 9_999
const MAX_AGE = 999

/** Reference of an image: optional registry with port, name in lower case, optional tag, optional digest. */
const IMAGE =
  /^(?=.{1,512}$)(?:[A-Za-z0-9.-]+(?::\d{1,5})?\/)?[a-z0-9._-]+(?:\/[a-z0-9._-]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/
const image = matching(IMAGE, 'the name of an image, in lower case, such as ghcr.io/guild/pronghorn:1.0.0')
const processors = matching(/^\d{1,4}(?:\.\d{1,3})?$/, 'a number of processors such as 1.5; 0: all')
/** IPv6 address ranges that cannot be the network of containers. */
const unfitRanges = ['unspecified', 'loopback', 'linkLocal', 'multicast', 'ipv4Mapped']
const MIN_PREFIX = 16
/** Longest prefix of the IPv6 network: 256 addresses, enough for all containers. */
const MAX_PREFIX = 120
const network = makeValidator<string>((text) => {
  if (!isNetwork(text))
    throw new RangeError(
      `a network of IPv6 addresses such as fd70:726f:6e67::/48, with a prefix length from /${MIN_PREFIX} to /${MAX_PREFIX}`,
    )
  return text
})

/** Docker refuses a network address with host bits. */
function isNetwork(text: string): boolean {
  if (!ipaddr.IPv6.isValidCIDR(text)) return false
  const [address, prefix] = ipaddr.IPv6.parseCIDR(text)
  const isFirst = ipaddr.IPv6.networkAddressFromCIDR(text).toString() === address.toString()
  const isFit = !unfitRanges.includes(address.range()) && prefix >= MIN_PREFIX && prefix <= MAX_PREFIX
  return isFirst && isFit
}

/** Variables that compose files pass to containers. No file is rendered from them, but their values are checked. */
export const containerVariables = {
  LOG_LEVEL: oneWord(logLevels)({
    default: 'info',
    desc: 'Lowest level of the messages that filler, api and state service log.',
  }),
  PRONGHORN_IMAGE: image({
    default: '',
    desc: 'Released image to pull. If it is not set, the image is built on this machine.',
  }),
  POSTGRES_IMAGE: image({ default: images.postgres, desc: 'Image of PostgreSQL, version 14 to 18.' }),
  REDIS_IMAGE: image({ default: images.redis, desc: 'Image of Redis.' }),
  NGINX_IMAGE: image({ default: images.nginx, desc: 'Image of nginx.' }),
  HASURA_IMAGE: image({ default: images.hasura, desc: 'Image of Hasura.' }),
  PROMETHEUS_IMAGE: image({ default: images.prometheus, desc: 'Image of Prometheus.' }),
  GRAFANA_IMAGE: image({ default: images.grafana, desc: 'Image of Grafana.' }),
  GRAFANA_PORT: port({ default: 3000, desc: 'Port of Grafana. Only this machine can reach it.' }),
  PROMETHEUS_DAYS: whole(1, MAX_AGE)({ default: 30, desc: 'Days for which Prometheus stores metrics.' }),
  FILLER_MEMORY: memory({ default: 2 * 2 ** 30, desc: 'Memory limit of the filler container, such as 2g.' }),
  API_MEMORY: memory({ default: 2 * 2 ** 30, desc: 'Memory limit of each api container, such as 2g.' }),
  POSTGRES_CPUS: processors({ default: '0', desc: 'Number of processors that PostgreSQL may use; 0: all.' }),
  FILLER_CPUS: processors({ default: '0', desc: 'Number of processors that the filler may use; 0: all.' }),
  API_CPUS: processors({
    default: '0',
    desc: 'Number of processors that each api container may use; 0: all.',
  }),
  NGINX_CPUS: processors({ default: '0', desc: 'Number of processors that the proxy may use; 0: all.' }),
  BACKUP_CPUS: processors({ default: '0', desc: 'Number of processors that backups may use; 0: all.' }),
  IPV6_SUBNET: network({
    default: 'fd70:726f:6e67::/48',
    desc: 'IPv6 network of the containers with docker-compose.ipv6.yml. Each appliance on a machine needs its own network.',
  }),
  BACKUP_DIR: hostPath({ default: './backups', desc: 'Folder of the backups.' }),
  BACKUP_HOURS: whole(1, MAX_BACKUPS)({ default: 24, desc: 'Hours between backups.' }),
  BACKUP_AT: matching(
    /^(?:[01]\d|2[0-3]):[0-5]\d$/,
    'a time of day such as 03:00 (UTC)',
  )({ default: '03:00', desc: 'Time (UTC) of the first backup of a day.' }),
  BACKUP_KEEP: whole(1, MAX_BACKUPS)({ default: 7, desc: 'Number of newest backups that are retained.' }),
  BACKUP_KEEP_WEEKS: whole(
    0,
    MAX_AGE,
  )({
    default: 4,
    desc: 'Number of weeks for each of which one backup is retained, in addition to the BACKUP_KEEP newest backups.',
  }),
  BACKUP_CHECK_DAYS: whole(
    0,
    MAX_AGE,
  )({
    default: 7,
    desc: 'Days between two checks that restore a backup and compare the restored database; 0: never.',
  }),
  BACKUP_HOOK: hostPath({
    default: '',
    desc: 'Program that is called after each backup with the name and the folder of the backup, for example to copy it to another machine.',
  }),
  BACKUP_IMAGE: image({
    default: '',
    desc: 'Image of the backup container: the image of PostgreSQL with the tools that BACKUP_HOOK needs.',
  }),
  BACKUP_JOBS: whole(
    1,
    1_000,
  )({
    default: 0,
    desc: 'Number of tables that a backup or a restore processes at the same time. If it is not set: one per core.',
  }),
} as const

/** Program that each image must contain, and a pattern that the names of such images match. */
export const programsOfImages: Readonly<Record<string, { readonly program: string; readonly name: RegExp }>> =
  {
    POSTGRES_IMAGE: { program: 'PostgreSQL', name: /pg|postgre|timescale|citus/i },
    REDIS_IMAGE: { program: 'Redis', name: /redis|valkey/i },
    NGINX_IMAGE: { program: 'nginx', name: /nginx/i },
    HASURA_IMAGE: { program: 'Hasura', name: /hasura|graphql-engine/i },
    PROMETHEUS_IMAGE: { program: 'Prometheus', name: /prometheus/i },
    GRAFANA_IMAGE: { program: 'Grafana', name: /grafana/i },
  }

/** Profiles of the compose file that `COMPOSE_PROFILES` may turn on; services of `tools` are run by scripts alone. */
export const composeProfiles = ['acme', 'backup', 'devchain', 'graphql', 'monitoring'] as const

/**
 * Variables of the state service that the operator may set. The compose file sets the other variables to fit the
 * network.
 */
export const operatorStateVariables = stateVariables.filter(
  ({ name }) => !['STATE_ADDR', 'STATE_PORT', 'STATE_TRUST_PROXY'].includes(name),
)

/**
 * Default and meaning of CHAIN, which selects a known public chain, and of the variables that an operator sets for
 * Compose.
 */
export const chosenVariables: Readonly<Record<string, { readonly default: string; readonly desc: string }>> =
  {
    CHAIN: {
      default: '',
      desc: `Public chain. It sets CHAIN_NAME, CHAIN_ID and START_BLOCK to the known values. One of: ${knownChains.map(({ name }) => name).join(', ')}.`,
    },
    COMPOSE_FILE: {
      default: '',
      desc: 'Colon-separated Compose files: docker-compose.yml, then docker-compose.ipv6.yml, docker-compose.scale.yml or your own files. If it is not set, the appliance includes the demo chain.',
    },
    COMPOSE_PROFILES: {
      default: '',
      desc: `Comma-separated profiles that add containers: ${composeProfiles.join(', ')}.`,
    },
    COMPOSE_PROJECT_NAME: {
      default: 'pronghorn',
      desc: 'Prefix of the names of containers, networks and volumes. Each appliance on a machine needs its own prefix.',
    },
  }

const composeFlag = matching(/^(?:true|false|1|0)$/i, 'true or false')({ default: undefined, desc: '' })

/** Variables that Compose itself also reads from `.env`. The appliance only checks their values. */
export const composeVariables = {
  COMPOSE_ANSI: oneWord(['auto', 'never', 'always'])({ default: undefined, desc: '' }),
  COMPOSE_BAKE: composeFlag,
  COMPOSE_CONVERT_WINDOWS_PATHS: composeFlag,
  COMPOSE_IGNORE_ORPHANS: composeFlag,
  COMPOSE_MENU: composeFlag,
  COMPOSE_PARALLEL_LIMIT: matching(
    /^-?\d{1,9}$/,
    'a whole number; -1 for no limit',
  )({ default: undefined, desc: '' }),
  COMPOSE_PATH_SEPARATOR: matching(
    /^[^\w./-]$/,
    'one character that does not occur in paths, such as ;',
  )({ default: undefined, desc: '' }),
  COMPOSE_PROGRESS: oneWord(['auto', 'tty', 'plain', 'json', 'quiet'])({ default: undefined, desc: '' }),
  COMPOSE_REMOVE_ORPHANS: composeFlag,
  COMPOSE_STATUS_STDOUT: composeFlag,
  DOCKER_BUILDKIT: composeFlag,
  DOCKER_DEFAULT_PLATFORM: matching(
    /^[a-z0-9]+\/[a-z0-9]+(?:\/v\d+)?$/,
    'a platform such as linux/arm64',
  )({ default: undefined, desc: '' }),
} as const

/** Port of the state service's metrics that the compose file sets unless the operator sets another port. */
export const STATE_METRICS_PORT = 9110

/** Variables that Compose itself reads from `.env`, and variables that choose a chain. */
export const otherNames = [...Object.keys(chosenVariables), ...Object.keys(composeVariables)] as const

const OF_SHELL = 'no value, because Docker reads this variable only from the environment of the shell'

/** Names that have no effect in `.env`, although other programs know them, with the reason. */
export const namesInVain: Readonly<Record<string, string>> = {
  DEMO_CHAIN:
    'no value, because the demo chain is used if COMPOSE_FILE is not set and no variable describes a chain',
  TZ: 'no value, because the time zone is always UTC, in logs, schedules and answers',
  COMPOSE_HTTP_TIMEOUT: 'no value, because Compose ignores this variable since version 2',
  ...Object.fromEntries(
    [
      ...['COMPOSE_DISABLE_ENV_FILE', 'COMPOSE_ENV_FILES'],
      ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY'],
    ].map((name) => [name, OF_SHELL]),
  ),
}
