import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseVariable } from '../../services/core/config/environment/index.ts'
import type { SettingVariable } from '../../services/core/config/environment/index.ts'
import { client } from './certificates.ts'

/** Settings that name a file of the host: valid content of the file, and its path in the containers. */
export const otherFiles: Readonly<Record<string, { readonly text: string; readonly path: string }>> = {
  SQLDB_SSL_CA_FILE: { text: client.certificate, path: '/etc/pronghorn/postgres-ca.pem' },
  SQLDB_SSL_CERT_FILE: { text: client.certificate, path: '/etc/pronghorn/postgres-client.pem' },
  SQLDB_SSL_KEY_FILE: { text: client.key, path: '/etc/pronghorn/postgres-client.key' },
  SQLDB_PASSWORD_FILE: { text: 'secret', path: '/etc/pronghorn/database-password' },
  KVSTORE_TLS_CA_FILE: { text: client.certificate, path: '/etc/pronghorn/redis-ca.pem' },
  KVSTORE_PASSWORD_FILE: { text: 'secret', path: '/etc/pronghorn/redis-password' },
}

/** Writes `otherFiles` into a folder. Returns the path of each file by its variable. */
export function writeOtherFiles(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(otherFiles).map(([name, { text }]) => {
      const path = join(folder, name)
      writeFileSync(path, text)
      return [name, path]
    }),
  )
}

/** Returns all values that a configuration has at the path of a setting. */
export function valuesAt(value: unknown, [step, ...rest]: SettingVariable['steps']): unknown[] {
  if (step === undefined) return [value]
  if (typeof step === 'string' && step !== 'each') return valuesAt(Reflect.get(Object(value), step), rest)
  const entries = (value as unknown[]).filter(
    (entry) => typeof step === 'string' || Reflect.get(Object(entry), step.key) === step.family,
  )
  return entries.flatMap((entry) => valuesAt(entry, rest))
}

/** Values of settings that must be consistent with each other or with this machine. */
const fitting: Readonly<Record<string, string>> = {
  READER_NAME: 'second',
  SERVER_ASSETS_CONNECTED_READER: 'second',
  SERVER_MARKET_CONNECTED_READER: 'second',
  SERVER_TOOLS_CONNECTED_READER: 'second',
  READER_ASSETS_ACCOUNT: 'other.assets',
  READER_MARKET_ASSETS_ACCOUNT: 'other.assets',
  READER_TOOLS_ASSETS_ACCOUNT: 'other.assets',
  READER_MARKET_ACCOUNT: 'other.market',
  READER_TOOLS_ACCOUNT: 'other.tools',
  READER_ORACLE_ACCOUNT: 'other.oracle',
  READER_MARKET_ORACLE_ACCOUNT: 'other.oracle',
  SERVER_ASSETS_PATH: '/one',
  SERVER_MARKET_PATH: '/two',
  SERVER_TOOLS_PATH: '/three',
  SERVER_ASSETS_ALIASES: '/one/alias,/one/other',
  SERVER_MARKET_ALIASES: '/two/alias',
  SERVER_TOOLS_ALIASES: '[]',
  SERVER_PORT: '9500',
  SERVER_METRICS_PORT: '9501',
  SERVER_TLS_PROXY: 'proxy.test:8443',
  READER_SERVER_PORT: '9502',
  READER_SHIP_PREFETCH_BLOCKS: '77',
  READER_SHIP_MIN_BLOCK_CONFIRMATION: '33',
  READER_START_BLOCK: '5',
  READER_STOP_BLOCK: '500',
  KVSTORE_TLS: 'true',
  KVSTORE_TLS_REJECT_UNAUTHORIZED: 'false',
  KVSTORE_CONNECTION_TYPE: 'standalone',
  POSTGRES_HOST: 'db.test',
  SQLDB_SSL_MODE: 'verify-full',
  REDIS_HOST: 'redis.test',
  SQLDB_DATABASE: 'another',
  READER_MODULES: '[]',
  READER_LIST_POLLS: '[{"url":"http://lists.test/all","frequency":7}]',
  SQLDB_REPLICAS: '[{"host":"replica.test","port":5433}]',
  SERVER_TRUST_PROXY: 'loopback, 10.0.0.0/8',
  SERVER_IP_WHITELIST: '192.0.2.1,2001:db8::/32',
  CHAIN_SHIP: 'ws://one.test:1,ws://two.test:2',
}

/** Texts to try as the value of a setting. Every type of setting accepts at least one of them. */
const candidates = [
  'true',
  'false',
  '41',
  '70000',
  '7000000',
  '10.0.0.0/8',
  'other.name',
  '/other',
  'http://other.test:1',
]

/** Returns a text that gives the setting a value other than the shipped one. */
export function otherText(setting: SettingVariable, shipped: readonly unknown[]): string {
  const chosen = fitting[setting.name] ?? setting.aliases.map((alias) => fitting[alias]).find(Boolean)
  if (chosen !== undefined) return chosen
  if (setting.name === 'CHAIN_ID') return 'ab'.repeat(32)
  const found = candidates.find((text) => {
    const value = parseVariable(setting, text)
    return (
      setting.schema.safeParse(value).success &&
      !shipped.some((each) => JSON.stringify(each) === JSON.stringify(value))
    )
  })
  if (found === undefined) throw new Error(`no text of another value for ${setting.name}`)
  return found
}
