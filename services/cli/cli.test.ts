import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../tests/setup/database.ts'
import { connectDatabase } from '../core/database/index.ts'
import type { TestDatabase } from '../../tests/setup/database.ts'
import { readPackageVersion } from '../core/paths/index.ts'
import { exitCodes } from './exit-codes.ts'
import { runCli } from './program.ts'

const chainId = 'a0'.repeat(32)
const connections = {
  sqldb: { host: 'db', user: 'me', password: 'hunter2', database: 'wax' },
  kvstore: { host: 'redis' },
  chain: { name: 'wax', chain_id: chainId, http: 'http://node:8888', ship: 'ws://node:8080' },
}
const args = { assets_account: 'atomicassets' }
const server = { namespaces: [{ name: 'assets', path: '/assets', args }] }
const readers = [
  { name: 'main', contracts: [{ handler: 'assets', args: { ...args, store_transfers: true } }] },
]

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pronghorn-cli-'))
  for (const [name, content] of Object.entries({ connections, server, readers })) write(name, content)
})
afterEach(() => {
  rmSync(dir, { recursive: true })
})

function write(name: string, content: unknown) {
  writeFileSync(join(dir, `${name}.config.json`), JSON.stringify(content))
}

async function run(
  line: readonly string[],
  env: Record<string, string> = {},
  signal = new AbortController().signal,
) {
  let out = ''
  let err = ''
  const code = await runCli(line, {
    env: { CONFIG_DIR: dir, LOG_LEVEL: 'silent', ...env },
    isTerminal: false,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    signal,
  })
  return { code, out, err }
}

describe('pronghorn help and --version', () => {
  it('pronghorn help names every command, the examples, the settings and the exit codes', async () => {
    const { code, out } = await run(['--help'])
    expect(code).toBe(0)
    for (const text of [
      'standalone',
      'devchain',
      'filler',
      'api',
      'migrate',
      'config',
      'Examples:',
      'CONFIG_DIR',
    ])
      expect(out).toContain(text)
    for (const [number, meaning] of Object.values(exitCodes)) {
      expect(out).toMatch(new RegExp(`^  ${number} +${meaning}$`, 'm'))
    }
  })

  it('the examples of pronghorn help contain only commands and options that exist', async () => {
    const { out } = await run(['--help'])
    const examples = [...out.matchAll(/^ {2}pronghorn ((?:[a-z]+ ?)+)(.*?)(?: {2,}|$)/gm)]
    expect(examples.length).toBeGreaterThan(3)
    for (const [, command = '', rest = ''] of examples) {
      const help = await run([...command.trim().split(' '), '--help'])
      expect([command, help.code]).toEqual([command, 0])
      for (const option of rest.match(/--[a-z-]+/g) ?? []) expect(help.out).toContain(option)
    }
  })

  it('pronghorn --version prints the version', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, out: `${readPackageVersion()}\n` })
  })
})

describe('a command line that cannot be understood', () => {
  it.each([
    [['fillr'], 'Did you mean filler?'],
    [['filler', '--confg', 'x'], 'Did you mean --config?'],
    [['filler', 'extra'], 'too many arguments'],
    [['help', 'nothing'], "unknown command 'nothing'"],
    [['config', 'chek'], 'Did you mean check?'],
    [['devchain', '--port', '65536'], 'a whole number from 0 to 65535'],
    [['devchain', '--forks', '2'], 'a number from 0 to 1'],
    [['config', 'check', '--for', 'nobody'], 'Allowed choices are all, filler, api'],
    [
      ['standalone', '--ship', 'ws://node'],
      '--ship needs --http as well: Pronghorn uses both addresses of the node',
    ],
    [['standalone', '--ship', 'http://node'], 'Allowed: a URL with ws://'],
    [['standalone', '--assets-account', 'none'], 'The assets contract cannot be left out'],
    [[], 'Usage: pronghorn'],
  ])('pronghorn exits with 2 for the unusable arguments %j', async (line, text) => {
    const { code, err } = await run(line)
    expect(code).toBe(2)
    expect(err).toContain(text)
  })
})

describe('pronghorn config', () => {
  it('pronghorn config check reports a configuration without problems', async () => {
    expect(await run(['config', 'check'])).toEqual({ code: 0, out: 'The configuration is valid.\n', err: '' })
  })

  it('pronghorn config check lists keys without effect and misspelled variables, and still passes', async () => {
    const [reader, ...others] = readers as readonly object[]
    write('readers', [{ ...reader, ds_ship_threads: 4 }, ...others])
    const { code, err } = await run(['config', 'check'], { CHIAN_HTTP: 'http://node', POSTGRES_PASWORD: 'x' })
    expect(code).toBe(0)
    expect(err).toContain('readers.config.json: [].ds_ship_threads: has no effect')
    expect(err).toContain('environment: CHIAN_HTTP: is not read; did you mean CHAIN_HTTP?')
    expect(err).toContain('environment: POSTGRES_PASWORD: is not read; did you mean POSTGRES_PASSWORD?')
    expect(err.match(/warning/g)).toHaveLength(3)
  })

  it('pronghorn config check refuses an unsupported handler, and says that the entry has to be removed', async () => {
    const [reader] = readers as readonly { readonly contracts: readonly object[] }[]
    write('readers', [
      { ...reader, contracts: [...reader!.contracts, { handler: 'simpleassets', args: {} }] },
    ])
    const { code, err } = await run(['config', 'check'])
    expect(code).toBe(3)
    expect(err).toContain('simpleassets is not supported; remove this entry')
  })

  it('pronghorn config check lists every problem and exits with 3', async () => {
    write('connections', { ...connections, chain: { ...connections.chain, http: 'node' } })
    write('server', { ...server, server_prot: 1 })
    const { code, err } = await run(['config', 'check'])
    expect(code).toBe(3)
    expect(err).toContain('2 problems')
    expect(err).toContain('connections.config.json: chain.http')
    expect(err).toContain('"server_port"')
  })

  it('pronghorn config check --config DIR --for filler passes without the file server.config.json', async () => {
    const other = mkdtempSync(join(tmpdir(), 'pronghorn-cli-'))
    writeFileSync(join(other, 'connections.config.json'), JSON.stringify(connections))
    writeFileSync(join(other, 'readers.config.json'), JSON.stringify(readers))
    expect(await run(['config', 'check', '--config', other, '--for', 'filler'])).toMatchObject({ code: 0 })
    expect(await run(['config', 'check', '--config', other])).toMatchObject({ code: 3 })
    rmSync(other, { recursive: true })
  })

  it('pronghorn config print shows defaults and no secrets', async () => {
    const { code, out } = await run(['config', 'print'])
    expect(code).toBe(0)
    expect(out).not.toContain('hunter2')
    expect(JSON.parse(out)).toMatchObject({
      server: { server_port: 9000 },
      readers: [{ ship_ds_queue_size: 20 }],
    })
  })

  it('a process with a refused configuration starts nothing and exits with 3', async () => {
    write('readers', [])
    const { code, err } = await run(['filler'])
    expect(code).toBe(3)
    expect(err).toContain('readers.config.json')
    expect(await run(['devchain'], { LOG_LEVEL: 'loud' })).toMatchObject({ code: 3 })
  })
})

describe('pronghorn migrate, and other commands that need a database', () => {
  let database: TestDatabase

  beforeEach(async () => {
    database = await createTestDatabase('template0')
    write('connections', { ...connections, sqldb: database.address })
  })
  afterEach(async () => {
    await database.drop()
  })

  it('pronghorn migrate brings the database to the newest schema, once', async () => {
    const before = await run(['migrate', '--check'])
    expect(before).toMatchObject({ code: 1, out: '' })
    expect(before.err).toMatch(/^DATABASE_TOO_OLD: [^]*`pronghorn migrate`/)
    expect(await run(['migrate', '--indexes'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Applied: 1/) as string,
    })
    expect(await run(['migrate', '--check'])).toMatchObject({ code: 0 })
    expect(await run(['migrate'])).toMatchObject({ code: 0, out: 'The schema was already the newest.\n' })
  })

  it.each([[['keys', 'list']], [['digest']], [['verify']]])(
    'pronghorn %j prints two lines for an empty database: the fact, and the remedy',
    async (line) => {
      const { code, err } = await run(line)
      expect(code).toBe(line[0] === 'keys' ? 1 : 75)
      const message =
        /^DATABASE_TOO_OLD: the database (?:is empty, or lacks schema migrations of this program version|has no tables for keys yet)\n/
      expect(err).toMatch(message)
      expect(err.replace(message, '')).toBe('Run `pronghorn migrate`, or start the filler.\n')
      const inContainer = await run(line, { PRONGHORN_MODE: 'appliance' })
      expect(inContainer.err.replace(message, '')).toMatch(/^Run `docker compose run --rm migrate`/)
    },
  )

  it.each(['--config', 'CONFIG_DIR'])(
    'pronghorn doctor reads the configuration files in the folder of %s, also outside containers',
    async (way) => {
      const line = way === '--config' ? ['doctor', '--config', dir] : ['doctor']
      const { code, out, err } = await run(line, way === '--config' ? { CONFIG_DIR: '/nowhere' } : {})
      expect(code).toBe(1)
      expect(out).toMatch(
        /^fail +database +PostgreSQL .*lacks schema migrations of this program version\. Run `pronghorn migrate`/m,
      )
      expect(out).not.toMatch(/docker|certificate/)
      expect(err).toContain('UNHEALTHY: ')
    },
  )

  it('pronghorn doctor reports a missing folder of rendered files', async () => {
    const { code, err } = await run(['doctor', '--rendered', join(dir, 'none')])
    expect([code, err]).toEqual([1, expect.stringMatching(/^WRONG_MODE: there is no folder .*none\/api/)])
  })

  it('pronghorn reports a refused login, a missing database and a missing right', async () => {
    const refuse = async (sqldb: object): Promise<string> => {
      write('connections', { ...connections, sqldb: { ...database.address, ...sqldb } })
      const { err } = await run(['migrate'])
      return err
    }
    expect(await refuse({ database: 'nowhere' })).toMatch(/^DATABASE_MISSING: .* has no database nowhere/)
    expect(await refuse({ user: 'nobody', password: 'wrong' })).toMatch(
      /^DATABASE_LOGIN_REFUSED: .* refuses the login of user nobody/,
    )
    const admin = await connectDatabase(database.address, { applicationName: 'test' })
    const role = `guest_${process.pid}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'guest'`)
    await admin.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    try {
      expect(await refuse({ user: role, password: 'guest' })).toMatch(
        /^DATABASE_PERMISSION: the database user lacks a privilege while creating the tables <- permission denied/,
      )
    } finally {
      await admin.query(`DROP ROLE ${role}`)
      await admin.end()
    }
  })

  it("pronghorn reports an unusable server or database with PostgreSQL's message and the remedy", async () => {
    const admin = await connectDatabase(database.address, { applicationName: 'test' })
    const role = `limited_${process.pid}`
    const other = `latin_${process.pid}`
    const migrateAs = async (settings: readonly string[]): Promise<{ code: number; err: string }> => {
      for (const setting of settings) await admin.query(`ALTER ROLE ${role} ${setting}`)
      return run(['migrate'])
    }
    const sqldb = { ...database.address, user: role, password: 'limited' }
    try {
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited' SUPERUSER`)
      write('connections', { ...connections, sqldb })
      const readOnly = await migrateAs(['SET default_transaction_read_only = on'])
      expect(readOnly.code).toBe(75)
      expect(readOnly.err).toMatch(
        /^DATABASE_READ_ONLY: PostgreSQL accepts no writes while .* <- cannot execute .* read-only transaction.*\nPoint `sqldb\.host` \(POSTGRES_HOST\) at the primary/,
      )
      // Functions that shadow `current_setting` make the server report version 13.
      await admin.query('CREATE SCHEMA old')
      for (const [type, value] of Object.entries({ text: "'13.4'", 'text, boolean': "'130004'" }))
        await admin.query(`CREATE FUNCTION old.current_setting(${type}) RETURNS text LANGUAGE sql AS $$
          SELECT CASE $1 WHEN 'server_version_num' THEN '130004' WHEN 'server_version' THEN ${value}
          ELSE pg_catalog.current_setting($1) END $$`)
      const old = await migrateAs([
        'SET default_transaction_read_only = off',
        'SET search_path = old, pg_catalog, public',
      ])
      expect([old.code, old.err]).toEqual([
        1,
        expect.stringMatching(
          /^DATABASE_VERSION: the server runs PostgreSQL 13\.4, but 14 or later is required\nUse PostgreSQL 14 to 18/,
        ),
      ])
      await admin.query(`ALTER ROLE ${role} RESET search_path`)
      await admin.query(
        `CREATE DATABASE ${other} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
      )
      write('connections', { ...connections, sqldb: { ...sqldb, database: other } })
      const latin = await run(['migrate'])
      expect([latin.code, latin.err]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(
            `^DATABASE_ENCODING: database ${other} stores text as LATIN1, but UTF8 is required\\nCreate a database with`,
          ),
        ),
      ])
      write('connections', { ...connections, sqldb })
      const full = await migrateAs(['NOSUPERUSER CONNECTION LIMIT 0'])
      expect(full.code).toBe(75)
      expect(full.err).toMatch(
        /^DATABASE_CONNECTIONS: PostgreSQL at .* has no connection left <- too many connections for role .*\nRaise the limit of this role \(`ALTER ROLE/,
      )
    } finally {
      await admin.query(`DROP DATABASE IF EXISTS ${other}`)
      await admin.query(`DROP ROLE IF EXISTS ${role}`)
      await admin.end()
    }
  })

  it('pronghorn import-database names host and port of the old database, not its password, when its server is down', async () => {
    const { code, err } = await run(['import-database', 'postgres://me:hunter2@127.0.0.1:1/old', '--dry-run'])
    expect(code).toBe(75)
    expect(err).toMatch(
      /^IMPORT_SOURCE_UNAVAILABLE: the database to import at 127\.0\.0\.1:1 cannot be opened: connect ECONNREFUSED 127\.0\.0\.1:1\nCheck the given address, and whether the server accepts connections from this machine/,
    )
    expect(err).not.toMatch(/sqldb|hunter2/)
  })

  it('pronghorn migrate exits with 75 when the database is unavailable, without showing the password', async () => {
    write('connections', {
      ...connections,
      sqldb: { ...database.address, port: 1, host: '127.0.0.1', password: 'hunter2' },
    })
    const { code, err } = await run(['migrate'])
    expect(code).toBe(75)
    expect(err).toContain('DATABASE_REFUSED')
    expect(err).toContain('127.0.0.1:1')
    expect(err).not.toContain('hunter2')
  })
})

it('devchain runs until it is stopped', async () => {
  const stopping = new AbortController()
  const running = run(['devchain', '--port', '0', '--http-port', '0', '--forks'], {}, stopping.signal)
  stopping.abort()
  expect(await running).toMatchObject({ code: 0, err: '' })
})

it('the usage error of npm start names the help, for swapped --ship and --http addresses and for several --ship addresses', async () => {
  const line = ['standalone', '--ship', 'http://node.test', '--http', 'ws://node.test']
  const { code, err } = await run(line)
  expect(code).toBe(2)
  expect(err).toMatch(
    /^error: option '--ship <url>' argument 'http:\/\/node\.test' is invalid\. Allowed: a URL with ws:\/\/.*\. Are --ship and --http swapped\?\nRead `npm start -- --help`\.\n$/,
  )
  const several = await run(['standalone', '--ship', 'ws://a.test,ws://b.test', '--http', 'http://a.test'])
  expect(several.err).toMatch(
    /is invalid\. Allowed: one URL\. To read from several nodes, use the containers/,
  )
})

it.each([
  ['verify --nothing', /^error: unknown option.*\nRead `pronghorn help verify`\.\n$/],
  ['probe ftp://x', /^USAGE: not a URL.*\nRead `pronghorn help probe`\.\n$/],
  ['smoke-test', /^error: missing required argument.*\nRead `pronghorn help smoke-test`\.\n$/],
  ['devchain --port x', /^error: option '--port.*\nRead `pronghorn help devchain`\.\n$/],
  ['nothing', /^error: unknown command.*\nRead `pronghorn --help`\.\n$/],
])('the usage error of pronghorn %s names the help of the command', async (line, expected) => {
  expect((await run(line.split(' '))).err).toMatch(expected)
  const inContainer = await run(line.split(' '), { PRONGHORN_MODE: 'appliance' })
  expect(inContainer.err).toContain('Read `docker compose run --rm config ')
})

describe('commands of the appliance', () => {
  const appliance = {
    ...{
      CHAIN: 'wax-mainnet',
      CHAIN_HTTP: 'http://node.test',
      CHAIN_SHIP: 'ws://node.test',
      PG_MEMORY: '256m',
    },
    ...{ POSTGRES_HOST: '127.0.0.1', POSTGRES_PORT: '1', REDIS_HOST: '127.0.0.1', REDIS_PORT: '1' },
  }

  it('the error of pronghorn rotate-secrets names the address at which PostgreSQL is unreachable', async () => {
    await run(['render-config', '--out', dir], appliance)
    const { code, err } = await run(['rotate-secrets', '--rendered', dir], appliance)
    expect(code).toBe(exitCodes.temporary[0])
    expect(err).toMatch(/^DATABASE_REFUSED: PostgreSQL at 127\.0\.0\.1:1 refuses connections$/m)
  })

  it('the error of pronghorn hasura-metadata names the missing file', async () => {
    const { code, err } = await run(['hasura-metadata', '--rendered', dir])
    expect(code).toBe(exitCodes.failed[0])
    expect(err).toMatch(/^CONFIG_INVALID: .*\/hasura\/metadata\.json cannot be read: run render-config first/)
  })
})

describe('pronghorn probe', () => {
  const reasons = ['a reader is 900 blocks behind', 'two']
  it.each([
    ['the api', JSON.stringify({ data: { chain: { service: { reasons } } } }), `: ${reasons.join('; ')}`],
    ['the filler', JSON.stringify({ data: { reasons } }), `: ${reasons.join('; ')}`],
    ['the state service', 'not ready\n', ': not ready'],
    ['a proxy', '<html>Bad gateway</html>', ''],
  ])('pronghorn probe shows the reasons in a failed answer of %s', async (_, body, shown) => {
    const listener = createHttpServer((_, response) => response.writeHead(503).end(body))
    await once(listener.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/health`
    const { err } = await run(['probe', url])
    expect(err).toContain(`UNHEALTHY: ${url} answers 503${shown}\n`)
    expect(err).not.toContain('above')
    listener.close()
  })

  it('pronghorn probe prints one line for an address that does not answer', async () => {
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    await new Promise((resolve) => listener.close(resolve))
    const url = `http://127.0.0.1:${port}/healthc`
    const { code, err } = await run(['probe', url])
    expect(code).toBe(1)
    expect(err).toMatch(`SERVICE_REFUSED: ${url} refuses connections`)
    expect(err).not.toContain('    at ')
    for (const wrong of ['healthc', 'ftp://x']) expect((await run(['probe', wrong])).code).toBe(2)
    write('server', { ...server, server_addr: '0.0.0.0', server_port: port })
    for (const [words, path] of [
      [['--config', dir], '/health'],
      [['--config', dir, '/healthc'], '/healthc'],
      [['--config', dir, url], '/healthc'],
      [[], '/health'],
    ] as const) {
      const line = `SERVICE_REFUSED: http://127.0.0.1:${port}${path} refuses connections`
      expect(await run(['probe', ...words])).toMatchObject({
        code: 1,
        err: expect.stringMatching(line) as string,
      })
    }
  })
})
