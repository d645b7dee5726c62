import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkRender, render } from '../../services/appliance/render/render.ts'
import { listVariables } from '../../services/appliance/render/catalogue.ts'
import type { ConfigError } from '../../services/core/config/index.ts'
import { loadConfig } from '../../services/core/config/index.ts'
import { settingVariables } from '../../services/core/config/environment/index.ts'
import { knownChains } from '../../services/core/config/schema/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { client, other } from './certificates.ts'
import { placesIn, real } from './rendering.ts'
import { right, rightFiles, rightProject } from './right-settings.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pronghorn-operator-files-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const places = (name: string) => placesIn(dir, name)

/** Configuration with two readers. The second one indexes the tools contract. */
const TWO_READERS = `[
  {
    "name": "main",
    "start_block": \${START_BLOCK},
    "stop_block": \${STOP_BLOCK},
    "contracts": [
      { "handler": "assets", "args": { "assets_account": "atomicassets", "store_transfers": true, "store_logs": true } },
      { "handler": "oracle", "args": { "oracle_account": "delphioracle" } },
      { "handler": "market", "args": { "market_account": "\${MARKET_ACCOUNT}", "store_logs": true } }
    ]
  },
  {
    "name": "tools",
    "start_block": \${START_BLOCK},
    "contracts": [{ "handler": "tools", "args": { "tools_account": "atomictoolsx", "store_logs": true } }]
  }
]`

describe('files of the operator', () => {
  const ownFolder = (files: Readonly<Record<string, string | Buffer>>): string => {
    const folder = mkdtempSync(join(dir, 'own-'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return folder
  }

  it('files of the operator replace the rendered files, with variables filled in', async () => {
    const CONFIG_FILES = ownFolder({ 'readers.config.json': TWO_READERS })
    const environment = {
      ...real,
      CONFIG_FILES,
      STOP_BLOCK: '70000000',
      SERVER_TOOLS_CONNECTED_READER: 'tools',
    }
    expect(await render(environment, places('two'))).toMatchObject({ warnings: [] })
    const { config } = loadConfig({ need: ['server', 'readers'], dir: join(dir, 'two/filler'), env: {} })
    expect(
      config.readers.map(({ name, start_block, stop_block }) => [name, start_block, stop_block]),
    ).toEqual([
      ['main', 64_000_000, 70_000_000],
      ['tools', 64_000_000, 0],
    ])
    expect(config.server.namespaces.map(({ args }) => args.connected_reader)).toEqual([
      'main',
      'main',
      'tools',
    ])
  })

  describe('an .env next to the files of an operator', () => {
    const mounted = (): string => join(dir, 'right-mounted')
    const project = (): string => join(dir, 'right-project')
    beforeAll(() => {
      for (const [folder, files] of [
        [mounted(), rightFiles],
        [project(), rightProject],
        [join(mounted(), 'CONFIG_FILES'), { 'readers.config.json': TWO_READERS }],
      ] as const) {
        mkdirSync(folder)
        for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      }
    })

    it.each(right)('a valid .env is accepted: %s', async (_what, text) => {
      const taken = checkRender(
        {},
        { ...places('right'), mounted: mounted(), project: project(), envFile: { text } },
      )
      expect((await taken).chain).toMatch(/^(?:wax-mainnet|mine)$/)
    })

    it('an .env is refused if it sets a variable that no file of the operator uses, or if it names a reader that the readers file lacks', async () => {
      const found = async (text: string): Promise<string[]> =>
        checkRender(
          { ...real },
          { ...places('right'), mounted: mounted(), project: project(), envFile: { text } },
        ).then(
          () => [],
          (error: unknown) => (error as ConfigError).problems.map(({ path }) => path),
        )
      expect(await found('COMPOSE_FILE=docker-compose.yml\nMAIL_TOKEN=x\n')).toEqual(['MAIL_TOKEN'])
      expect(await found('COMPOSE_FILE=docker-compose.yml:/srv/guild.yml\nCACHE_LIFEE=5\n')).toEqual([
        'CACHE_LIFEE',
      ])
      expect(await found('CONFIG_FILES=./config\nREADER_NAME=other\nSTOP_BLOCK=0\n')).toEqual(['READER_NAME'])
      const own =
        'POSTGRES_BUNDLED=false\nPOSTGRES_HOST=db.test\nPOSTGRES_SUPERUSER_PASSWORD_FILE=./a\nPOSTGRES_SSL_MODE=require\n'
      expect(await found(`${own}POSTGRES_SSL_CERT_FILE=./a.pem\n`)).toEqual(['POSTGRES_SSL_KEY_FILE'])
      expect(await found(`${own}POSTGRES_SSL_CA_FILE=./a.pem\n`)).toEqual(['POSTGRES_SSL_CA_FILE'])
    })

    it('a message about a refused setting names related settings by their variables', async () => {
      const allowedOf = async (text: string): Promise<string> => {
        const envFile = { text }
        const error = await checkRender(real, { ...places('right'), mounted: mounted(), envFile }).catch(
          (caught: unknown) => caught,
        )
        return (error as ConfigError).problems.map(({ path, allowed }) => `${path}: ${allowed}`).join()
      }
      const own =
        'POSTGRES_BUNDLED=false\nPOSTGRES_HOST=db.test\nPOSTGRES_SUPERUSER_PASSWORD_FILE=./a\nPOSTGRES_SSL_MODE=require\n'
      expect(await allowedOf(`${own}POSTGRES_SSL_CA_FILE=./a.pem`)).toBe(
        'POSTGRES_SSL_CA_FILE: nothing, unless POSTGRES_SSL_MODE is "verify-full"',
      )
      expect(await allowedOf(`${own}POSTGRES_SSL_KEY_FILE=./a.pem`)).toBe(
        'POSTGRES_SSL_KEY_FILE: a file if and only if POSTGRES_SSL_CERT_FILE is set',
      )
      expect(await allowedOf('READER_SERVER_PORT=9100')).toBe(
        'READER_SERVER_PORT: another port than SERVER_METRICS_PORT, which is 9100',
      )
      expect(await allowedOf('START_BLOCK=64000000\nSTOP_BLOCK=5')).toBe(
        'STOP_BLOCK: 0 (never stop), or a block not below START_BLOCK, which is 64000000',
      )
    })

    it('client certificates and keys that do not belong together, or cannot be read, are refused', async () => {
      const foundWith = async (files: Readonly<Record<string, string>>): Promise<string[]> => {
        const folder = mkdtempSync(join(dir, 'pair-'))
        for (const [name, text] of Object.entries({ ...rightFiles, ...files }))
          writeFileSync(join(folder, name), text)
        const [, text] = right.find(([what]) => what === 'PostgreSQL with TLS and a client certificate')!
        const envFile = { text }
        const taken = checkRender({}, { ...places('pair'), mounted: folder, project: project(), envFile })
        return taken.then(
          () => [],
          (error: unknown) => (error as ConfigError).problems.map(({ path, found }) => `${path}: ${found}`),
        )
      }
      expect(await foundWith({})).toEqual([])
      expect(await foundWith({ SQLDB_SSL_CA_FILE: `${client.certificate}\n${other.certificate}` })).toEqual(
        [],
      )
      expect(await foundWith({ SQLDB_SSL_KEY_FILE: other.key })).toEqual([
        'POSTGRES_SSL_KEY_FILE: "./tls/client.key" (the file contains the key of another certificate)',
      ])
      const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
      for (const text of [
        '-----BEGIN CERTIFICATE-----',
        broken,
        `${client.certificate}\n${broken}`,
        client.key,
      ])
        expect(await foundWith({ SQLDB_SSL_CA_FILE: text })).toEqual([
          'POSTGRES_SSL_CA_FILE: "./tls/ca.pem" (the file does not contain a certificate)',
        ])
      expect(await foundWith({ SQLDB_SSL_KEY_FILE: '-----BEGIN PRIVATE KEY-----' })).toEqual([
        'POSTGRES_SSL_KEY_FILE: "./tls/client.key" (the file does not contain a private key)',
      ])
    })
  })

  it.each([
    ['SERVER_ADDR', '127.0.0.1', '0.0.0.0'],
    ['READER_SERVER_ADDR', '192.168.1.5', '::'],
    ['SERVER_METRICS_ADDR', 'localhost', '0.0.0.0'],
    ['CHAIN_HTTP', 'http://localhost:8888', 'http://10.0.0.5:8888'],
    ['CHAIN_SHIP', 'ws://a.test,ws://[::1]:8080', 'ws://a.test'],
    ['API_REPLICAS', '3', '2'],
    ['SERVER_TRUST_PROXY', 'false', '1'],
    ['IPV6_SUBNET', 'fd00:1::/64', 'fd70:726f:6e67::/48'],
    ['POSTGRES_IMAGE', 'mysql:8', 'registry.guild.test:5000/library/postgres:14'],
    ['POSTGRES_IMAGE', 'guild/database@sha256:' + 'ab'.repeat(32), 'timescale/timescaledb:2.17-pg14'],
    ['POSTGRES_IMAGE', 'redis:7', 'bitnami/postgresql:14'],
    ['REDIS_IMAGE', 'postgres:14', 'valkey/valkey:8'],
    ['NGINX_IMAGE', 'caddy:2', 'nginxinc/nginx-unprivileged:1.28'],
  ])('a value that cannot work in a container causes a warning: %s=%s', async (name, value, usable) => {
    const warned = async (text: string): Promise<string[]> => {
      const environment = { ...real, COMPOSE_FILE: 'docker-compose.yml', [name]: text }
      return (await checkRender(environment, places('warned'))).warnings.map(({ path }) => path)
    }
    expect(await warned(value)).toContain(name)
    expect(await warned(usable)).not.toContain(name)
  })

  it('files of the operator may use the variables that CHAIN sets', async () => {
    const { name, id } = knownChains[0]!
    const connections = {
      sqldb: {
        host: 'postgres',
        user: '${POSTGRES_USER}',
        password: '${POSTGRES_PASSWORD}',
        database: '${POSTGRES_DATABASE}',
      },
      chain: {
        name: '${CHAIN_NAME}',
        chain_id: '${CHAIN_ID}',
        http: 'http://node.test',
        ship: 'ws://node.test',
      },
    }
    const CONFIG_FILES = ownFolder({ 'connections.config.json': JSON.stringify(connections) })
    expect((await render({ CHAIN: name, CONFIG_FILES }, places('preset'))).chain).toBe(name)
    const { config } = loadConfig({ need: ['connections'], dir: join(dir, 'preset/state'), env: {} })
    expect(config.connections.chain.chain_id).toBe(id)
  })

  it('a refused value in a file of the operator is reported once, under the file and key, although the appliance checks the value too', async () => {
    const found = async (changed: {
      readonly sqldb?: object
      readonly chain?: object
    }): Promise<string[]> => {
      const sqldb = { host: 'postgres', user: 'x', database: 'pronghorn' }
      const chain = {
        ...{ name: 'mine', chain_id: 'ab'.repeat(32) },
        ...{ http: 'http://node.test', ship: 'ws://node.test' },
      }
      const content = { sqldb: { ...sqldb, ...changed.sqldb }, chain: { ...chain, ...changed.chain } }
      const CONFIG_FILES = ownFolder({ 'connections.config.json': JSON.stringify(content) })
      return checkRender({ CONFIG_FILES }, places('keys')).then(
        () => [],
        (error: unknown) =>
          (error as ConfigError).problems.map(({ file, path, found: value }) => `${file}: ${path}: ${value}`),
      )
    }
    const file = 'connections.config.json'
    expect(await found({})).toEqual([])
    expect(await found({ chain: { ship: 'a,b' } })).toEqual([`${file}: chain.ship: "a,b"`])
    expect(await found({ chain: { ship: 'ws://a.test,ws://b.test' } })).toEqual([
      `${file}: chain.ship: "ws://a.test,ws://b.test"`,
    ])
    expect(await found({ chain: { ship: undefined, http: 8888 } })).toEqual([
      `${file}: chain.http: 8888`,
      `${file}: chain.ship: nothing`,
    ])
    expect(await found({ sqldb: { database: 'Guild' } })).toEqual([`${file}: sqldb.database: "Guild"`])
    expect(await found({ sqldb: { port: '5432x' } })).toEqual([`${file}: sqldb.port: "5432x"`])
    expect(await found({ chain: { ship: 'ws://a.test/#main' } })).toEqual([
      `${file}: chain.ship: "ws://a.test/#main"`,
    ])
    expect(await found({ chain: { ship: 'ws://a.test:0' } })).toEqual([
      `${file}: chain.ship: "ws://a.test:0"`,
    ])
  })

  it('files of the operator may set the addresses of the database and of the chain node', async () => {
    const connections = {
      sqldb: {
        host: 'db.test',
        user: '${POSTGRES_USER}',
        password: '${POSTGRES_PASSWORD}',
        database: 'pronghorn',
      },
      chain: {
        name: 'mine',
        chain_id: 'ab'.repeat(32),
        http: 'http://node.test',
        ship: ['ws://a.test', { url: 'ws://b.test', weight: 2 }],
      },
    }
    const CONFIG_FILES = ownFolder({ 'connections.config.json': JSON.stringify(connections) })
    const report = await render({ CONFIG_FILES, POSTGRES_HOST: 'db.test' }, places('elsewhere'))
    expect(report.chain).toBe('mine')
    const { config } = loadConfig({ need: ['connections'], dir: join(dir, 'elsewhere/state'), env: {} })
    expect(config.connections.sqldb.user).toBe('pronghorn_state')
    expect(config.connections.sqldb.password).toHaveLength(43)
    // The backup containers read POSTGRES_HOST, so POSTGRES_HOST must match the address in the operator's JSON file.
    await expect(checkRender({ CONFIG_FILES }, places('elsewhere'))).rejects.toThrow(
      /POSTGRES_HOST: found "postgres", allowed: "db.test"/,
    )
  })

  it.each([
    [
      'a file that nothing reads',
      { 'server.json': '{}' },
      {},
      /server\.json: found a file of CONFIG_FILES that nothing reads/,
    ],
    ['no file', {}, {}, /CONFIG_FILES: found .*the folder has no JSON file/],
    [
      'text that is no JSON',
      { 'readers.config.json': '[{]' },
      {},
      /readers\.config\.json: found malformed JSON at line 1, column 3/,
    ],
    [
      'text that is not in UTF-8',
      { 'readers.config.json': Buffer.from(TWO_READERS.replace('"main"', '"m\u00e4in"'), 'latin1') },
      {},
      /readers\.config\.json: found bytes that are no UTF-8/,
    ],
    [
      'a variable that is not set',
      { 'readers.config.json': TWO_READERS.replace('"main"', '"${MY_NAME}"') },
      {},
      /\$\{MY_NAME\}: found a variable that is not set, allowed: a line MY_NAME=/,
    ],
    [
      'a key that does not exist',
      { 'readers.config.json': TWO_READERS.replace('"start_block"', '"startblock"') },
      {},
      /readers\.config\.json: \[0\]\.startblock: found an unknown key/,
    ],
    [
      'a variable of .env that readers.config.json of the operator does not use',
      { 'readers.config.json': TWO_READERS },
      { DB_GROUP_BLOCKS: '7' },
      /DB_GROUP_BLOCKS: found a setting of readers\.config\.json, which is your own file, allowed: the key \[\]\.db_group_blocks/,
    ],
  ])('files of the operator are refused: %s', async (_what, files, more, problem) => {
    const CONFIG_FILES = ownFolder(files)
    await expect(checkRender({ ...real, CONFIG_FILES, ...more }, places('refused'))).rejects.toThrow(problem)
  })

  it('a warning names each namespace whose configured reader does not index the contract of the namespace', async () => {
    const CONFIG_FILES = ownFolder({ 'readers.config.json': TWO_READERS })
    const { warnings } = await checkRender({ ...real, CONFIG_FILES, STOP_BLOCK: '0' }, places('connected'))
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/"tools" has no live data, .* "main" .*; reader "tools" indexes the contract/),
    ])
  })
})

it('every default in the compose file is the documented default', () => {
  const { appliance, shipped } = listVariables()
  const documented = new Map(appliance.map(({ name, defaultText }) => [name, defaultText]))
  for (const { name, aliases } of settingVariables)
    for (const each of [name, ...aliases])
      if (!documented.has(each)) documented.set(each, shipped.get(name) ?? '')
  const compose = readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8')
  // An empty default leaves the value to the program. /dev/null replaces a file or folder that is not configured.
  const defaults = [...compose.matchAll(/\$\{([A-Z_]+):-([^}$]+)\}/g)]
    .map(([, name, value]) => [name!, value!] as const)
    .filter(([name, value]) => value !== '/dev/null' && (documented.get(name) ?? '') !== '')
  expect(defaults.length).toBeGreaterThan(15)
  for (const [name, value] of defaults) expect(value, name).toBe(documented.get(name))
})
