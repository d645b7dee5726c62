import { stateVariables } from '../../core/config/environment/index.ts'
import ipaddr from 'ipaddr.js'
import { logLevels } from '../../core/log/index.ts'
import { makeValidator } from 'envalid'
import { knownChains } from '../../core/config/schema/index.ts'
import { images } from '../../core/images/index.ts'
import { hostPath, matching, memory, oneWord, port, whole } from './variables.ts'

const MAX_BACKUPS = 9_999
const MAX_AGE = 999

/** A registry with its port, the name in lower case, a tag and a digest. */
const IMAGE =
  /^(?=.{1,512}$)(?:[A-Za-z0-9.-]+(?::\d{1,5})?\/)?[a-z0-9._-]+(?:\/[a-z0-9._-]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/
const image = matching(IMAGE, 'the name of an image, in lower case, such as ghcr.io/guild/pronghorn:1.0.0')
const processors = matching(/^\d{1,4}(?:\.\d{1,3})?$/, 'a number of processors such as 1.5; 0 for all')
/** Ranges without addresses that containers could have. */
const unfitRanges = ['unspecified', 'loopback', 'linkLocal', 'multicast', 'ipv4Mapped']
const MIN_PREFIX = 16
/** The network has an address for every container. */
const MAX_PREFIX = 120
const network = makeValidator<string>((text) => {
  if (!isNetwork(text))
    throw new RangeError(
      `a network of IPv6 addresses such as fd70:726f:6e67::/48, from /${MIN_PREFIX} to /${MAX_PREFIX}`,
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
    desc: 'What filler, api and state service log.',
  }),
  PRONGHORN_IMAGE: image({
    default: '',
    desc: 'A released image to pull; without it the image is built here.',
  }),
  POSTGRES_IMAGE: image({ default: images.postgres, desc: 'Any image of PostgreSQL 14 to 18.' }),
  REDIS_IMAGE: image({ default: images.redis, desc: 'Image of Redis.' }),
  NGINX_IMAGE: image({ default: images.nginx, desc: 'Image of nginx.' }),
  HASURA_IMAGE: image({ default: images.hasura, desc: 'Image of Hasura.' }),
  PROMETHEUS_IMAGE: image({ default: images.prometheus, desc: 'Image of Prometheus.' }),
  GRAFANA_IMAGE: image({ default: images.grafana, desc: 'Image of Grafana.' }),
  GRAFANA_PORT: port({ default: 3000, desc: 'Port of Grafana, on this machine alone.' }),
  PROMETHEUS_DAYS: whole(1, MAX_AGE)({ default: 30, desc: 'Days for which Prometheus stores metrics.' }),
  FILLER_MEMORY: memory({ default: 2 * 2 ** 30, desc: 'Memory of the filler, such as 2g.' }),
  API_MEMORY: memory({ default: 2 * 2 ** 30, desc: 'Memory of each api container, such as 2g.' }),
  POSTGRES_CPUS: processors({ default: '0', desc: 'Processors that PostgreSQL may use; 0: all of them.' }),
  FILLER_CPUS: processors({ default: '0', desc: 'Processors that the filler may use; 0: all of them.' }),
  API_CPUS: processors({ default: '0', desc: 'Processors that an api container may use; 0: all of them.' }),
  NGINX_CPUS: processors({ default: '0', desc: 'Processors that the proxy may use; 0: all of them.' }),
  BACKUP_CPUS: processors({ default: '0', desc: 'Processors that backups may use; 0: all of them.' }),
  IPV6_SUBNET: network({
    default: 'fd70:726f:6e67::/48',
    desc: 'Network of docker-compose.ipv6.yml; another for each appliance of a machine.',
  }),
  BACKUP_DIR: hostPath({ default: './backups', desc: 'Folder of the backups.' }),
  BACKUP_HOURS: whole(1, MAX_BACKUPS)({ default: 24, desc: 'Hours between backups.' }),
  BACKUP_AT: matching(
    /^(?:[01]\d|2[0-3]):[0-5]\d$/,
    'a time of day such as 03:00 (UTC)',
  )({ default: '03:00', desc: 'Time of day (UTC) of the first backup of a day.' }),
  BACKUP_KEEP: whole(1, MAX_BACKUPS)({ default: 7, desc: 'Newest backups that are retained.' }),
  BACKUP_KEEP_WEEKS: whole(0, MAX_AGE)({ default: 4, desc: 'Weeks of which one more backup is retained.' }),
  BACKUP_CHECK_DAYS: whole(
    0,
    MAX_AGE,
  )({ default: 7, desc: 'Days between comparisons of a restored copy; 0: never.' }),
  BACKUP_HOOK: hostPath({
    default: '',
    desc: 'Program that is called with the name and the folder of each new backup.',
  }),
  BACKUP_IMAGE: image({
    default: '',
    desc: 'Image with what that program needs, made from that of PostgreSQL.',
  }),
  BACKUP_JOBS: whole(
    1,
    1_000,
  )({
    default: 0,
    desc: 'Processes that read or write tables at the same time; one for each core when absent.',
  }),
} as const

/** Program that each image has to contain, and words of names that say so. */
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

/** Variables of the state service that the compose file leaves to the operator; the others fit its network. */
export const operatorStateVariables = stateVariables.filter(
  ({ name }) => !['STATE_ADDR', 'STATE_PORT', 'STATE_TRUST_PROXY'].includes(name),
)

/** Variables that an operator sets for Compose, and CHAIN, which selects the facts of a chain: default and meaning. */
export const chosenVariables: Readonly<Record<string, { readonly default: string; readonly desc: string }>> =
  {
    CHAIN: {
      default: '',
      desc: `Public chain whose CHAIN_NAME, CHAIN_ID and START_BLOCK are known: ${knownChains.map(({ name }) => name).join(', ')}.`,
    },
    COMPOSE_FILE: {
      default: '',
      desc: 'Colon-separated Compose files, docker-compose.yml first; docker-compose.ipv6.yml, docker-compose.scale.yml and files of your own may follow. Without it the demo chain is part of the appliance.',
    },
    COMPOSE_PROFILES: {
      default: '',
      desc: `Comma-separated profiles of further containers: ${composeProfiles.join(', ')}.`,
    },
    COMPOSE_PROJECT_NAME: {
      default: 'pronghorn',
      desc: 'Name before those of containers, networks and volumes; another one for each appliance of a machine.',
    },
  }

const composeFlag = matching(/^(?:true|false|1|0)$/i, 'true or false')({ default: undefined, desc: '' })

/** Variables of Compose that it reads from `.env` too; the appliance checks their values alone. */
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
    'one character that no path has',
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

/** Port of the state service's metrics that the compose file sets unless the operator sets another one. */
export const STATE_METRICS_PORT = 9110

/** Variables that Compose itself reads from `.env`, and variables that choose a chain. */
export const otherNames = [...Object.keys(chosenVariables), ...Object.keys(composeVariables)] as const

const OF_SHELL = 'nothing: Docker reads it from the environment of the shell alone'

/** Names that have no effect in `.env`, although other programs know them, with the reason. */
export const namesInVain: Readonly<Record<string, string>> = {
  DEMO_CHAIN: 'nothing: the demo chain is used if COMPOSE_FILE is not set and no variable describes a chain',
  TZ: 'nothing: every log, schedule and time of an answer is in UTC',
  COMPOSE_HTTP_TIMEOUT: 'nothing: Compose has not read it since version 2',
  ...Object.fromEntries(
    [
      ...['COMPOSE_DISABLE_ENV_FILE', 'COMPOSE_ENV_FILES'],
      ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY'],
    ].map((name) => [name, OF_SHELL]),
  ),
}
