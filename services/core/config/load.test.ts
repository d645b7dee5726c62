import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError, formatProblem } from './problems.ts'
import { loadConfig } from './load.ts'
import type { ConfigPart } from './types.ts'
import type { Environment } from './environment/index.ts'

const chainId = 'b1'.repeat(32)
const connections = {
  sqldb: { host: 'db', user: 'me', password: 'hunter2', database: 'wax' },
  kvstore: { host: 'redis' },
  chain: { name: 'wax', chain_id: chainId, http: 'http://node:8888', ship: 'ws://node:8080' },
}
const server = { namespaces: [{ name: 'assets', path: '/assets', args: { assets_account: 'atomicassets' } }] }
const readers = [
  { name: 'main', contracts: [{ handler: 'assets', args: { assets_account: 'atomicassets' } }] },
]

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pronghorn-config-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
})

function write(name: string, content: unknown) {
  const text =
    typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content)
  writeFileSync(join(dir, `${name}.config.json`), text)
}

function problemsOf(need: ConfigPart[] = ['connections'], env: Environment = {}): string[] {
  try {
    loadConfig({ dir, env, need })
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem)
    throw error
  }
  return []
}

describe('configuration files', () => {
  it('loadConfig reads files from CONFIG_DIR; files that the program does not need may be missing', () => {
    write('connections', connections)
    write('readers', readers)
    const { config } = loadConfig({ env: { CONFIG_DIR: dir }, need: ['connections', 'readers'] })
    expect(config.connections.sqldb.port).toBe(5432)
    expect(config.readers[0]?.name).toBe('main')
    expect(config.server).toBeUndefined()
  })

  it('loadConfig validates every existing file, also files that the program does not need', () => {
    write('connections', connections)
    write('server', { ...server, server_port: 0 })
    expect(problemsOf()).toHaveLength(1)
  })

  it('loadConfig names every missing file', () => {
    const problems = problemsOf(['connections', 'server', 'readers'])
    const advice = 'Create it, or set CONFIG_DIR to the directory that has it'
    expect(problems).toEqual([
      `connections.config.json not found in ${dir}. ${advice}, or set POSTGRES_*, REDIS_* and CHAIN_* instead.`,
      `server.config.json not found in ${dir}. ${advice}.`,
      `readers.config.json not found in ${dir}. ${advice}.`,
    ])
  })

  it.each([
    ['{"sqldb": {\n  "host": hunter2\n}}', 'line 2, column 11'],
    ['{"sqldb": {"password": "hunter2"', 'line 1, column 33'],
    ['{"a": 1,\n "a": 2}', 'line 2, column 2'],
    ['', 'line 1, column 1'],
    [`${'['.repeat(200)}${']'.repeat(200)}`, 'line 1, column 102'],
  ])('loadConfig reports line and column of malformed JSON: %s', (text, place) => {
    write('connections', text)
    const problems = problemsOf()
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(place)
    expect(problems[0]).not.toContain('hunter2')
  })

  it('loadConfig accepts a byte order mark', () => {
    write('connections', `\ufeff${JSON.stringify(connections)}`)
    expect(problemsOf()).toEqual([])
  })

  it('loadConfig refuses a file that is not UTF-8, not a regular file or too large', () => {
    write('connections', new Uint8Array([0x7b, 0xff, 0x7d]))
    mkdirSync(join(dir, 'server.config.json'))
    write('readers', `[${' '.repeat(5_000_000)}]`)
    expect(problemsOf()).toEqual([
      expect.stringContaining('not UTF-8'),
      expect.stringContaining('no regular file'),
      expect.stringContaining('5000002 bytes'),
    ])
  })

  it('loadConfig refuses a file that cannot be opened', () => {
    symlinkSync('connections.config.json', join(dir, 'connections.config.json'))
    expect(problemsOf()[0]).toMatch(/cannot be read \(ELOOP\)/)
  })
})

describe('environment variables', () => {
  it('environment variables take precedence over the file, and an empty variable counts as unset', () => {
    write('connections', connections)
    const env = {
      POSTGRES_HOST: 'other',
      POSTGRES_PORT: '6000',
      CHAIN_SHIP: 'ws://a:1, ws://b:2',
      REDIS_HOST: '',
    }
    const { config } = loadConfig({ dir, env, need: ['connections'] })
    expect(config.connections.sqldb).toMatchObject({ host: 'other', port: 6000, user: 'me' })
    expect(config.connections.chain.ship).toEqual(['ws://a:1', 'ws://b:2'])
    expect(config.connections.kvstore?.host).toBe('redis')
  })

  it('environment variables can replace connections.config.json', () => {
    const env = {
      ...{ POSTGRES_HOST: 'db', POSTGRES_USER: 'me', POSTGRES_PASSWORD: 'x', POSTGRES_DATABASE: 'wax' },
      ...{ CHAIN_NAME: 'wax', CHAIN_ID: chainId, CHAIN_HTTP: 'http://node', CHAIN_SHIP: 'ws://node' },
      REDIS_HOST: 'redis',
    }
    const { config, warnings } = loadConfig({ dir, env, need: ['connections'] })
    expect(config.connections.chain.name).toBe('wax')
    expect(warnings.map((warning) => warning.message)).toEqual([
      expect.stringContaining('only environment variables set the connections'),
    ])
    expect(problemsOf(['connections'], { ...env, POSTGRES_USER: '' })).toEqual([
      'connections.config.json: sqldb.user: found nothing, allowed: text of 1 to 63 characters (or set the variable POSTGRES_USER)',
    ])
  })

  it('environment variables are validated like the file, and problems name the variable', () => {
    write('connections', connections)
    const env = {
      ...{
        POSTGRES_PORT: '70000',
        REDIS_PORT: 'many',
        CHAIN_ID: 'x',
        REDIS_TLS: 'perhaps',
        LOG_LEVEL: 'loud',
      },
      ...{ POSTGRES_PASSWORD: 'hunter2'.repeat(1000) },
    }
    const problems = problemsOf(['connections'], env)
    expect(problems.map((problem) => problem.split(': ').slice(0, 3).join(': '))).toEqual([
      'environment: LOG_LEVEL: found "loud", allowed',
      'environment: POSTGRES_PORT: found 70000, allowed',
      'environment: POSTGRES_PASSWORD: found [redacted], allowed',
      'environment: REDIS_PORT: found "many", allowed',
      'environment: REDIS_TLS: found "perhaps", allowed',
      'environment: CHAIN_ID: found "x", allowed',
    ])
  })

  it('REDIS_TLS_REJECT_UNAUTHORIZED alone does not enable TLS; REDIS_TLS_CA_FILE enables TLS unless REDIS_TLS is false', () => {
    write('connections', connections)
    const tlsFor = (env: Environment) =>
      loadConfig({ dir, env, need: ['connections'] }).config.connections.kvstore?.tls
    expect(tlsFor({ REDIS_TLS_REJECT_UNAUTHORIZED: 'false' })).toBe(false)
    expect(tlsFor({ REDIS_TLS: 'false', REDIS_TLS_CA_FILE: '/ca.pem' })).toBe(false)
    expect(tlsFor({ REDIS_TLS_CA_FILE: '/ca.pem' })).toEqual({ rejectUnauthorized: true, ca_file: '/ca.pem' })
    expect(tlsFor({ REDIS_TLS: 'true', REDIS_TLS_REJECT_UNAUTHORIZED: 'false' })).toEqual({
      rejectUnauthorized: false,
    })
    expect(problemsOf(['connections'], { REDIS_TLS_REJECT_UNAUTHORIZED: 'perhaps' })[0]).toMatch(
      /^environment: REDIS_TLS_REJECT_UNAUTHORIZED/,
    )
  })
})

describe('former setting names', () => {
  const { sqldb, kvstore, chain } = connections
  const args = { atomicassets_account: 'atomicassets', store_transfers: true, store_logs: true }

  it('loadConfig accepts former setting names in every file', () => {
    write('connections', { postgres: sqldb, redis: kvstore, chain })
    write('server', {
      namespaces: [
        { name: 'atomicassets', path: '/atomicassets', args: { atomicassets_account: 'atomicassets' } },
        {
          name: 'atomicmarket',
          path: '/atomicmarket',
          args: { atomicmarket_account: 'atomicmarket', delphioracle_account: 'delphioracle' },
        },
        { name: 'atomictools', path: '/atomictools', args: { atomictools_account: 'atomictoolsx' } },
      ],
    })
    write('readers', [
      {
        name: 'atomic-1',
        contracts: [
          { handler: 'atomicassets', args },
          { handler: 'delphioracle', args: { delphioracle_account: 'delphioracle' } },
          {
            handler: 'atomicmarket',
            args: {
              atomicassets_account: 'atomicassets',
              atomicmarket_account: 'atomicmarket',
              store_logs: true,
            },
          },
          { handler: 'atomictools', args: { atomictools_account: 'atomictoolsx', store_logs: true } },
        ],
      },
    ])
    const { config, warnings } = loadConfig({ dir, env: {}, need: ['connections', 'server', 'readers'] })
    expect(warnings).toEqual([])
    expect(config.connections.sqldb.host).toBe('db')
    expect(config.server.namespaces.map((namespace) => namespace.name)).toEqual(['assets', 'market', 'tools'])
    expect(config.readers[0]?.contracts.map((contract) => contract.handler)).toEqual([
      'assets',
      'oracle',
      'market',
      'tools',
    ])
    expect(config.readers[0]?.contracts[2]?.args).toMatchObject({ market_account: 'atomicmarket' })
  })

  it('a configuration problem uses the setting name of the file, even if this name is a former name', () => {
    write('connections', { postgres: { ...sqldb, port: 0 }, redis: kvstore, chain })
    write('readers', [
      { name: 'x', contracts: [{ handler: 'atomicassets', args: { atomicassets_account: 'X' } }] },
    ])
    expect(problemsOf().map((problem) => problem.split(':')[1]?.trim())).toEqual([
      'postgres.port',
      '[0].contracts[0].args.atomicassets_account',
    ])
  })

  it('a setting under both its former and its current name must have one value', () => {
    write('connections', { postgres: sqldb, sqldb, redis: { host: 'other' }, kvstore, chain })
    const both = { atomicassets_account: 'a', assets_account: 'b' }
    write('readers', [{ name: 'x', contracts: [{ handler: 'assets', args: both }] }])
    const problems = problemsOf()
    expect(problems).toHaveLength(2)
    expect(problems[0]).toMatch(
      /^connections\.config\.json: redis: found .*"other".*only one of "redis" and "kvstore"/,
    )
    expect(problems[1]).toMatch(
      /^readers\.config\.json: \[0\]\.contracts\[0\]\.args\.atomicassets_account: found "a"/,
    )
  })
})
