import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  statfs,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { isIP } from 'node:net'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkRender, render, renderOrKeep } from '../../services/appliance/render/render.ts'
import type { RenderPlaces } from '../../services/appliance/render/index.ts'
import { knownNames } from '../../services/appliance/render/env-file.ts'
import { secretNames } from '../../services/appliance/render/secrets.ts'
import { variables } from '../../services/appliance/render/variables.ts'
import { installCertificate } from '../../services/appliance/tls/certificate.ts'
import { ConfigError, loadConfig } from '../../services/core/config/index.ts'
import { settingVariables } from '../../services/core/config/environment/index.ts'
import { knownChains } from '../../services/core/config/schema/index.ts'
import { packageRoot, readPackageVersion } from '../../services/core/paths/index.ts'

const real = {
  CHAIN: 'wax-mainnet',
  CHAIN_HTTP: 'http://node.test:8888',
  CHAIN_SHIP: 'ws://node.test:8080',
  DOMAIN: 'nft.example.org',
}
const acme = { ...real, TLS_MODE: 'acme', ACME_EMAIL: 'a@b.example', DOMAIN: 'nft.guild.io' }
const demo = { DEMO_CHAIN: 'true' }
/** Type number of overlayfs, as `statfs` returns it. */
const OVERLAYFS = 0x794c7630
const elsewhere = {
  POSTGRES_BUNDLED: 'false',
  POSTGRES_HOST: 'db.test',
  POSTGRES_SUPERUSER_PASSWORD_FILE: '',
}

let dir: string
/**
 * Folders that stand for an operator's folders. They are created on a disk, because the temporary folder may be in
 * memory.
 */
const operators: string[] = []

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pronghorn-render-'))
  elsewhere.POSTGRES_SUPERUSER_PASSWORD_FILE = join(dir, 'superuser')
  await writeFile(elsewhere.POSTGRES_SUPERUSER_PASSWORD_FILE, 'secret')
  await mkdir(join(packageRoot, '.data'), { recursive: true })
})
afterAll(async () => {
  for (const folder of [dir, ...operators]) await rm(folder, { recursive: true, force: true })
})

const places = (name: string) => ({ out: join(dir, name), certificateFiles: join(dir, `${name}-files`) })

async function problemsOf(
  environment: Record<string, string>,
  more: Partial<RenderPlaces> = {},
): Promise<string[]> {
  try {
    await checkRender(environment, { ...places('refused'), ...more })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ file, path }) => (path === '' ? file : path))
  }
}

describe('rendering of the configuration', () => {
  it('a rendered configuration gives each service loadable files and a database role of its own', async () => {
    const { out, certificateFiles } = places('real')
    const report = await render(real, { out, certificateFiles })
    expect(report).toMatchObject({ isDemo: false, chain: 'wax-mainnet', warnings: [] })
    expect([...report.secretsCreated].sort()).toEqual(Object.keys(secretNames).sort())
    const passwords = new Set<string>()
    for (const service of ['filler', 'api', 'state']) {
      const need = ['connections', 'server', 'readers'] as const
      const { config, warnings } = loadConfig({ need, dir: join(out, service), env: {} })
      expect(warnings).toEqual([])
      expect(config.connections.sqldb.user).toBe(`pronghorn_${service}`)
      expect(config.connections.chain.chain_id).toMatch(/^1064487b/)
      expect(config.readers[0]).toMatchObject({ start_block: 64_000_000 })
      expect(config.readers[0]?.contracts.map(({ handler }) => handler)).toEqual([
        'assets',
        'oracle',
        'market',
        'tools',
      ])
      expect(config.server.namespaces.map(({ path, aliases }) => [path, ...aliases])).toEqual([
        ['/assets', '/atomicassets'],
        ['/market', '/atomicmarket'],
        ['/tools', '/atomictools'],
      ])
      passwords.add(config.connections.sqldb.password)
    }
    expect(passwords.size).toBe(3)
    const certificate = new X509Certificate(await readFile(join(out, 'certificates/fullchain.pem')))
    expect(certificate.checkHost('nft.example.org')).toBe('nft.example.org')
  })

  it('a rendered configuration limits size, rate and connections of GraphQL requests, and does not proxy websockets to GraphQL', async () => {
    await render({ ...real, GRAPHQL_RATE_LIMIT: '7' }, places('graphql'))
    const text = await readFile(join(places('graphql').out, 'nginx/nginx.conf'), 'utf8')
    const block = /location = \/v1\/graphql \{[^}]*\}/.exec(text)?.[0] ?? ''
    expect(block).toContain('client_max_body_size 16k;')
    expect(block).toContain('limit_req zone=graphql burst=14 nodelay;')
    expect(block).toContain('limit_conn graphql_addresses 4;')
    expect(block).toContain('proxy_read_timeout 15s;')
    expect(text).toContain('limit_req_zone $client zone=graphql:10m rate=7r/s;')
    expect(text).toMatch(/map \$uri \$socket_upgrade \{\s+default \$http_upgrade;\s+\/v1\/graphql '';/)
    expect(text).toContain('proxy_set_header Upgrade $socket_upgrade;')
  })

  it('a rendered configuration restricts the whole public surface to the origins of SERVER_CORS', async () => {
    const proxyOf = async (SERVER_CORS: string) => {
      const { warnings } = await render({ ...real, SERVER_CORS }, places('cors'))
      return { warnings, text: await readFile(join(places('cors').out, 'nginx/nginx.conf'), 'utf8') }
    }
    const open = await proxyOf('')
    expect(open.text).toContain('add_header Access-Control-Allow-Origin * always;')
    expect(open.text).not.toContain('$cors_origin')
    const closed = await proxyOf(String.raw`^https://app\.example\.org$`)
    expect(closed.text).toContain(String.raw`"~^https://app\\.example\\.org$" $http_origin;`)
    expect(closed.text).not.toContain('Allow-Origin *')
    expect(closed.warnings).toEqual([])
    // The proxy removes the header `Access-Control-Allow-Origin` of the state service and of GraphQL, and sends its
    // own.
    expect(closed.text.match(/proxy_hide_header Access-Control-Allow-Origin;/g)).toHaveLength(4)
    const { text, warnings } = await proxyOf('["^https://[^]+$"]')
    expect(text).not.toContain('[^]')
    expect(warnings.map(({ path }) => path)).toEqual(['cors'])
    for (const wrong of ['*', 'true', 'https://a.test,False'])
      await expect(checkRender({ ...real, SERVER_CORS: wrong }, places('cors'))).rejects.toThrow(
        /SERVER_CORS.*if the list is empty, every origin may call/,
      )
  })

  it('rendering warns if every client is trusted as a proxy', async () => {
    const { warnings } = await checkRender(
      { ...real, TRUSTED_PROXIES: '10.0.0.0/8,0.0.0.0/0' },
      places('open'),
    )
    expect(warnings.map(({ path }) => path)).toEqual(['TRUSTED_PROXIES'])
  })

  it('rendering accepts another start block with START_BLOCK_OVERRIDE', async () => {
    const { out, certificateFiles } = places('later')
    const environment = { ...real, START_BLOCK: '100000000', START_BLOCK_OVERRIDE: 'true' }
    await render(environment, { out, certificateFiles })
    const { config } = loadConfig({ need: ['readers'], dir: join(out, 'filler'), env: {} })
    expect(config.readers[0]).toMatchObject({ start_block: 100_000_000, start_block_override: true })
  })

  it('rendering again keeps existing secrets and certificates', async () => {
    const { out, certificateFiles } = places('twice')
    await render(real, { out, certificateFiles })
    const before = await readAll(out)
    const report = await render(real, { out, certificateFiles })
    expect(report).toMatchObject({ secretsCreated: [], certificateCreated: false })
    expect(await readAll(out)).toEqual(before)
    expect((await stat(join(out, 'secrets/api'))).mode & 0o077).toBe(0)
  })

  it('while .env is refused, the configuration rendered before stays in use, unless Compose itself reads the changed variable', async () => {
    const { out, certificateFiles } = places('former')
    const keep = async (environment: Record<string, string>) => {
      const report = await renderOrKeep({ ...real, ...environment }, { out, certificateFiles })
      return 'refused' in report ? (report.whyNotFormer ?? 'stays') : 'rendered'
    }
    const none = `the folder has no complete configuration that version ${readPackageVersion()} rendered, so no former configuration can stay in use`
    expect(await keep({ CACHE_LIFE: '2s' })).toBe(none)
    expect(await keep(elsewhere)).toBe('rendered')
    const before = await readAll(out)
    for (const [wrong, outcome] of [
      [{ ...elsewhere, CACHE_LIFE: '2s' }, 'stays'],
      [{ ...elsewhere, CHAIN: 'waxx' }, 'stays'],
      [{ ...elsewhere, FILLER_MEMORY: 'all' }, 'stays'],
      [{ CACHE_LIFE: '2s' }, 'POSTGRES_BUNDLED, POSTGRES_HOST'],
      [{ ...elsewhere, SQLDB_PORT: 'x' }, 'POSTGRES_PORT'],
      [{ ...elsewhere, DATA_LOCATION: '/nowhere' }, 'DATA_LOCATION'],
    ] as const) {
      const because = `the former configuration cannot stay in use, because Compose reads ${outcome} by itself`
      expect(await keep(wrong)).toBe(outcome === 'stays' ? outcome : because)
      expect(await readAll(out)).toEqual(before)
    }
    // Without rendered.json the rendered configuration counts as incomplete, so it cannot stay in use.
    await rm(join(out, 'secrets/rendered.json'))
    expect(await keep({ ...elsewhere, CACHE_LIFE: '2s' })).toBe(none)
  })

  it('every rendering reads the password of an external PostgreSQL from its file again', async () => {
    const { out, certificateFiles } = places('own')
    const mounted = join(dir, 'own-mounted')
    await mkdir(mounted)
    const file = join(mounted, 'POSTGRES_SUPERUSER_PASSWORD_FILE')
    const environment = { ...real, ...elsewhere, POSTGRES_SUPERUSER_PASSWORD_FILE: './somewhere' }
    for (const password of ['first one', 'second one']) {
      await writeFile(file, `${password}\n`)
      await render(environment, { out, certificateFiles, mounted })
      expect(await readFile(join(out, 'secrets/superuser'), 'utf8')).toBe(password)
      expect(await readFile(join(out, 'postgres/superuser'), 'utf8')).toBe(password)
    }
    for (const text of ['', 'two\nlines\n', '\ufeffsecret\n']) {
      await writeFile(file, text)
      await expect(
        checkRender({ ...real, ...elsewhere, POSTGRES_SUPERUSER_PASSWORD_FILE: file }, places('own')),
      ).rejects.toThrow(
        /POSTGRES_SUPERUSER_PASSWORD_FILE: found ".*own-mounted.*" \(the file (?:is empty|does not contain a password)\)/,
      )
    }
  })

  it('a rendered configuration answers 404 if GraphQL is turned off, and 503 if GraphQL is unavailable', async () => {
    const proxyOf = async (name: string, environment: Record<string, string>) => {
      await render(environment, places(name))
      const text = await readFile(join(places(name).out, 'nginx/nginx.conf'), 'utf8')
      return /location = \/v1\/graphql \{[^}]*\}/.exec(text)?.[0] ?? ''
    }
    const off = await proxyOf('plain', real)
    expect(off).toContain('error_page 502 = @unknown;')
    // A time-out shows that Hasura is running although GraphQL is turned off, so the status is 503 instead of 404.
    expect(off).toContain('error_page 504 = @unavailable;')
    const on = await proxyOf('graphql', { ...real, COMPOSE_PROFILES: 'backup, graphql' })
    expect(on).toContain('proxy_pass')
    expect(on).not.toContain('@unknown')
  })

  it('rendering selects the demo chain only if the compose file of the demo chain is used, never because chain settings are missing', async () => {
    expect(await render(demo, places('demo'))).toMatchObject({ isDemo: true, chain: 'demo' })
    expect(await problemsOf({})).toEqual(['CHAIN_NAME', 'CHAIN_ID', 'CHAIN_HTTP', 'CHAIN_SHIP'])
  })

  it('a rendered configuration contains no family whose account is set to none', async () => {
    const { out, certificateFiles } = places('less')
    await render(
      { ...real, MARKET_ACCOUNT: 'none', ORACLE_ACCOUNT: 'none', TOOLS_ACCOUNT: 'none' },
      { out, certificateFiles },
    )
    const { config } = loadConfig({ need: ['server', 'readers'], dir: join(out, 'api'), env: {} })
    expect(config.readers[0]?.contracts.map(({ handler }) => handler)).toEqual(['assets'])
    expect(config.server.namespaces.map(({ name }) => name)).toEqual(['assets'])
  })

  it('a rendered configuration escapes every value inside its quotes', async () => {
    const { out, certificateFiles } = places('quotes')
    const PROVIDER_NAME = '[Guild] "A" \\ ${CHAIN_ID} $& é'
    await render({ ...real, PROVIDER_NAME }, { out, certificateFiles })
    const { config } = loadConfig({ need: ['server'], dir: join(out, 'api'), env: {} })
    expect(config.server.provider_name).toBe(PROVIDER_NAME)
  })

  it('the compose file passes every variable to rendering', async () => {
    const text = await readFile(join(packageRoot, 'docker-compose.yml'), 'utf8')
    const { 'x-settings': settings } = parse(text, { merge: true }) as {
      'x-settings': Record<string, unknown>
    }
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.keys(variables)))
    // DEMO_CHAIN is set by the compose files only.
    expect(Object.keys(settings).filter((name) => !knownNames.includes(name))).toEqual(['DEMO_CHAIN'])
  })

  it('.env.example names every variable, with its default', async () => {
    const text = await readFile(join(packageRoot, '.env.example'), 'utf8')
    const rendered = new Set([
      ...Object.keys(variables),
      ...settingVariables.flatMap(({ name, aliases }) => [name, ...aliases]),
    ])
    for (const name of Object.keys(variables)) expect(text).toMatch(new RegExp(`^(?:# )?${name}=`, 'm'))
    const lines = [...text.matchAll(/^# ([A-Z_]+)=(.*)$/gm)].map(
      ([, name = '', value = '']) => [name, value] as const,
    )
    const defaults = lines.filter(([name, value]) => rendered.has(name) && value !== '')
    const { out, certificateFiles } = places('defaults')
    await render(real, { out, certificateFiles })
    const plain = await readAll(out)
    const mounted = await operatorFolders()
    await render({ ...real, ...Object.fromEntries(defaults) }, { out, certificateFiles, mounted })
    expect(await readAll(out)).toEqual(plain)
  })

  it('rendering accepts .env.example with every line uncommented', async () => {
    const text = await readFile(join(packageRoot, '.env.example'), 'utf8')
    const lines = text.matchAll(/^(?:# )?([A-Z_]+)=(.*)$/gm)
    const environment = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
    expect(await problemsOf({ ...environment, ...real }, { mounted: await operatorFolders() })).toEqual([])
  })

  it('rendering knows every variable of the compose files', async () => {
    const files = (await readdir(packageRoot)).filter((name) => /^docker-compose.*\.yml$/.test(name))
    const names: string[] = []
    for (const name of files) {
      const text = await readFile(join(packageRoot, name), 'utf8')
      names.push(...[...text.matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, variable = '']) => variable))
    }
    expect(names.filter((name) => !knownNames.includes(name))).toEqual([])
  })

  it.each(['192.168.1.5', 'nft.example.org'])(
    'rendering creates a certificate for %s, and a new certificate for another address',
    async (DOMAIN) => {
      const { out, certificateFiles } = places(`domain-${DOMAIN}`)
      await render({ ...real, DOMAIN: '192.168.1.6' }, { out, certificateFiles })
      for (const isNew of [true, false]) {
        const { certificateCreated } = await render({ ...real, DOMAIN }, { out, certificateFiles })
        expect(certificateCreated).toBe(isNew)
      }
      const certificate = new X509Certificate(await readFile(join(out, 'certificates/fullchain.pem')))
      expect(isIP(DOMAIN) ? certificate.checkIP(DOMAIN) : certificate.checkHost(DOMAIN)).toBe(DOMAIN)
    },
  )

  it('a rendered configuration puts an IPv6 address of PostgreSQL in brackets', async () => {
    const { out, certificateFiles } = places('ipv6')
    await render({ ...real, POSTGRES_HOST: '2001:db8::5' }, { out, certificateFiles })
    const text = await readFile(join(out, 'hasura/environment'), 'utf8')
    const urls = [...text.matchAll(/_DATABASE_URL='([^']*)'/g)].map(([, url = '']) => url)
    expect(urls.map((url) => new URL(url).host)).toEqual(['[2001:db8::5]:5432', '[2001:db8::5]:5432'])
  })

  it('rendering refuses a DATA_LOCATION that is missing, relative or not owned by the PostgreSQL user', async () => {
    const folder = join(dir, 'database')
    expect(await problemsOf({ ...real, DATA_LOCATION: folder })).toEqual(['DATA_LOCATION'])
    expect(await problemsOf({ ...real, DATA_LOCATION: folder, ...elsewhere })).toEqual(['DATA_LOCATION'])
    await mkdir(folder)
    expect(await problemsOf({ ...real, DATA_LOCATION: folder })).toEqual(['DATA_LOCATION'])
    expect(await problemsOf({ ...real, DATA_LOCATION: 'database' })).toEqual(['DATA_LOCATION'])
    expect(await problemsOf({ ...real, DATA_LOCATION: folder, ...elsewhere })).toEqual(['DATA_LOCATION'])
  })

  it('rendering refuses a backup folder that is a file, is in memory, or is not writable for the schedule', async () => {
    const BACKUP_DIR = await mkdtemp(join(packageRoot, '.data/backups-'))
    const { type } = await statfs(BACKUP_DIR)
    // The backup folder is on overlayfs if the tests run in a container.
    expect(await problemsOf({ ...real, BACKUP_DIR })).toEqual(type === OVERLAYFS ? ['BACKUP_DIR'] : [])
    expect(await problemsOf({ ...real, BACKUP_DIR, COMPOSE_PROFILES: 'backup' })).toEqual(['BACKUP_DIR'])
    await chmod(BACKUP_DIR, 0)
    expect(await problemsOf({ ...real, BACKUP_DIR })).toEqual(['BACKUP_DIR'])
    await rm(BACKUP_DIR, { recursive: true })
    expect(await problemsOf({ ...real, BACKUP_DIR })).toEqual(['BACKUP_DIR'])
    await writeFile(BACKUP_DIR, '')
    expect(await problemsOf({ ...real, BACKUP_DIR })).toEqual(['BACKUP_DIR'])
    await rm(BACKUP_DIR)
    if (existsSync('/dev/shm'))
      expect(await problemsOf({ ...real, BACKUP_DIR: '/dev/shm' })).toEqual(['BACKUP_DIR'])
  })

  it('rendering requires the host of a server that is not bundled, and accepts TLS settings only for such a server', async () => {
    expect(await problemsOf({ ...real, POSTGRES_BUNDLED: 'false', REDIS_BUNDLED: 'false' })).toEqual([
      'POSTGRES_HOST',
      'REDIS_HOST',
      'POSTGRES_SUPERUSER_PASSWORD_FILE',
    ])
    expect(await problemsOf({ ...real, POSTGRES_SSL_MODE: 'require' })).toEqual(['POSTGRES_SSL_MODE'])
    expect(await problemsOf({ ...real, ...elsewhere, POSTGRES_SSL_MODE: 'require' })).toEqual([])
  })

  it('rendering does not compare PG_MEMORY with this machine if PostgreSQL runs on another host', async () => {
    const PG_MEMORY = `${Math.ceil(totalmem() / 2 ** 30) + 1}g`
    expect(await problemsOf({ ...real, PG_MEMORY, POSTGRES_HOST: 'db.test' })).toEqual([])
  })

  it.each([
    [{ API_WORKERS: '4' }, 3 * (20 + 2 * 4 + 1) + 60],
    [{}, 3 * (Math.max(20, cpus().length) + 2 * cpus().length + 1) + 60],
    [{ API_WORKERS: '64', API_REPLICAS: '5' }, 6 * (64 + 2 * 64 + 1) + 60],
    [{ API_WORKERS: '4', STATE_DB_CONNECTIONS: '100' }, 3 * (20 + 2 * 4 + 1) + 2 * 100 + 40],
  ])('max_connections of PostgreSQL suffices for the connections of all services: %j', async (more, most) => {
    const { out, certificateFiles } = places('connections')
    await render({ ...real, ...more }, { out, certificateFiles })
    const text = await readFile(join(out, 'postgres/postgresql.conf'), 'utf8')
    expect(/^max_connections = (\d+)$/m.exec(text)?.[1]).toBe(String(most))
  })

  it('rendering accepts a database name of 57 characters, and that name with the suffix _trial', async () => {
    const longest = 'a'.repeat(57)
    for (const name of [longest, `${longest}_trial`])
      expect(await problemsOf({ ...real, POSTGRES_DATABASE: name })).toEqual([])
  })

  it('rendering accepts several state-history nodes', async () => {
    const { out, certificateFiles } = places('several')
    const CHAIN_SHIP = 'ws://one.test:8080, wss://two.test:8080'
    await render({ ...real, CHAIN_SHIP }, { out, certificateFiles })
    const { config } = loadConfig({ need: ['connections'], dir: join(out, 'filler'), env: {} })
    expect(config.connections.chain.ship).toEqual(['ws://one.test:8080', 'wss://two.test:8080'])
  })
})

describe('settings that rendering refuses', () => {
  const mistakes: [what: string, environment: Record<string, string>, names: string[]][] = [
    ['an unknown chain', { ...real, CHAIN: 'wax' }, ['CHAIN']],
    ['a chain id that is too short', { ...real, CHAIN_ID: 'abc' }, ['CHAIN_ID']],
    ['a wrong scheme of the HTTP address', { ...real, CHAIN_HTTP: 'ws://node:8888' }, ['CHAIN_HTTP']],
    [
      'a wrong scheme of the state-history address',
      { ...real, CHAIN_SHIP: 'http://node:8080' },
      ['CHAIN_SHIP'],
    ],
    ['no state-history address', { ...real, CHAIN_SHIP: '' }, ['CHAIN_SHIP']],
    ['a misspelt variable', { ...real, RATE_LIMIT_REQUEST: '5' }, ['RATE_LIMIT_REQUEST']],
    ['an unknown variable', { ...real, POSTGRES_FLAVOUR: 'x' }, ['POSTGRES_FLAVOUR']],
    ['a market without an oracle', { ...real, ORACLE_ACCOUNT: 'none' }, ['ORACLE_ACCOUNT']],
    ['no assets contract', { ...real, ASSETS_ACCOUNT: 'none' }, ['ASSETS_ACCOUNT']],
    ['an account that cannot exist', { ...real, MARKET_ACCOUNT: 'Atomic_Market' }, ['MARKET_ACCOUNT']],
    ['ports that clash', { ...real, HTTP_PORT: '8443' }, ['HTTPS_PORT']],
    ['a port out of range', { ...real, HTTPS_PORT: '70000' }, ['HTTPS_PORT']],
    ['a TLS mode that does not exist', { ...real, TLS_MODE: 'letsencrypt' }, ['TLS_MODE']],
    ['an unreadable certificate', { ...real, TLS_MODE: 'files' }, ['TLS_DIR', 'TLS_DIR']],
    ['ACME without an address', { ...acme, COMPOSE_PROFILES: 'acme', ACME_EMAIL: '' }, ['ACME_EMAIL']],
    [
      'ACME for a name that is not public',
      { ...acme, DOMAIN: 'localhost', COMPOSE_PROFILES: 'acme' },
      ['DOMAIN'],
    ],
    ['ACME without its service', acme, ['COMPOSE_PROFILES']],
    ['a start block that is no number', { ...real, START_BLOCK: '64m' }, ['START_BLOCK']],
    [
      'a start block other than the start block of the chain',
      { ...real, START_BLOCK: '100000000' },
      ['START_BLOCK'],
    ],
    ['a start block of 0 on a known chain', { ...real, START_BLOCK: '0' }, ['START_BLOCK']],
    [
      'a known chain without its name',
      { ...real, CHAIN: '', CHAIN_NAME: 'wax', CHAIN_ID: knownChains[0]!.id },
      ['START_BLOCK'],
    ],
    [
      'node addresses in an example domain',
      { ...real, CHAIN_HTTP: 'http://node.example.org:8888', CHAIN_SHIP: 'ws://node.example:8080' },
      ['CHAIN_HTTP', 'CHAIN_SHIP'],
    ],
    [
      'several node addresses, one in an example domain',
      { ...real, CHAIN_SHIP: 'ws://node.test:8080,ws://node.example.org:8080' },
      ['CHAIN_SHIP'],
    ],
    ['a stop below the start', { ...real, STOP_BLOCK: '5' }, ['STOP_BLOCK']],
    ['memory without a unit', { ...real, PG_MEMORY: '4096' }, ['PG_MEMORY']],
    [
      'more memory than the machine has',
      { ...real, PG_MEMORY: `${Math.ceil(totalmem() / 2 ** 30) + 1}g` },
      ['PG_MEMORY'],
    ],
    ['a limit of 0', { ...real, RATE_LIMIT_REQUESTS: '0' }, ['RATE_LIMIT_REQUESTS']],
    ['an invalid flag', { ...real, BILL_EXECUTION_TIME: 'maybe' }, ['BILL_EXECUTION_TIME']],
    ['proxies that are no addresses', { ...real, TRUSTED_PROXIES: 'cloudflare' }, ['TRUSTED_PROXIES']],
    ['a network of too many bits', { ...real, TRUSTED_PROXIES: '10.0.0.1,10.0.0.0/99' }, ['TRUSTED_PROXIES']],
    [
      'a password file that does not exist',
      { ...real, ...elsewhere, POSTGRES_SUPERUSER_PASSWORD_FILE: '/nowhere/password' },
      ['POSTGRES_SUPERUSER_PASSWORD_FILE'],
    ],
    [
      'a password that `docker inspect` would show',
      { ...real, POSTGRES_SUPERUSER_PASSWORD: 'secret' },
      ['POSTGRES_SUPERUSER_PASSWORD'],
    ],
    ...['2001:db8::g', "it's", '[::1]', 'a b', 'host:5432'].map(
      (host): [string, Record<string, string>, string[]] => [
        `${host} as the host of PostgreSQL`,
        { ...real, POSTGRES_HOST: host },
        ['POSTGRES_HOST'],
      ],
    ),
    ['a database name with capitals', { ...real, POSTGRES_DATABASE: 'Wax' }, ['POSTGRES_DATABASE']],
    [
      'a database name too long for the suffix of its trial copy',
      { ...real, POSTGRES_DATABASE: 'a'.repeat(58) },
      ['POSTGRES_DATABASE'],
    ],
    ...['pronghorn_hasura', 'postgres', 'template0', 'template1'].map(
      (name): [string, Record<string, string>, string[]] => [
        `the reserved database name ${name}`,
        { ...real, POSTGRES_DATABASE: name },
        ['POSTGRES_DATABASE'],
      ],
    ),
  ]
  it.each(mistakes)('rendering refuses %s', async (_what, environment, names) => {
    expect(await problemsOf(environment)).toEqual(names)
    await expect(readdir(places('refused').out)).rejects.toThrow(/ENOENT/)
  })

  it.each(knownChains.filter(({ startBlock }) => startBlock !== undefined).map(({ name }) => name))(
    'rendering refuses a start block other than the start block of %s',
    async (name) => {
      for (const block of ['0', '1', '100000001'])
        expect(await problemsOf({ ...real, CHAIN: name, START_BLOCK: block })).toEqual(['START_BLOCK'])
    },
  )

  it('rendering refuses .env.example as shipped: the chain node is missing', async () => {
    const text = await readFile(join(packageRoot, '.env.example'), 'utf8')
    const lines = text.matchAll(/^([A-Z_]+)=(.+)$/gm)
    const environment = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
    expect(await problemsOf(environment)).toEqual(['CHAIN_HTTP', 'CHAIN_SHIP'])
  })

  it('rendering refuses a wrong URL without printing its password', async () => {
    const refused = checkRender(
      { ...real, CHAIN_HTTP: 'http://me:secret@node.example.org' },
      places('refused'),
    )
    await expect(refused).rejects.toThrow(/CHAIN_HTTP: found "http:\/\/me:\[redacted\]@node.example.org"/)
  })

  it('rendering names the position of a JSON error, without printing secrets', async () => {
    const poll = '{"url":"https://a.example/x","api_key":"hidden","frequency":"x"}'
    const refusals: readonly (readonly [text: string, refusal: string])[] = [
      [`[${poll}]`, 'READER_LIST_POLLS[0].frequency: found "x", allowed: a whole number'],
      [`[${poll}`, 'READER_LIST_POLLS: found text that is no valid JSON, allowed: a list'],
    ]
    for (const [text, refusal] of refusals) {
      const refused = await checkRender({ ...real, READER_LIST_POLLS: text }, places('refused')).then(
        () => '',
        String,
      )
      expect(refused).toContain(refusal)
      expect(refused).not.toContain('hidden')
    }
  })

  it('rendering refuses a certificate that is a dangling link, and names the target of the link', async () => {
    const { out, certificateFiles } = places('links')
    await mkdir(certificateFiles)
    for (const name of ['fullchain.pem', 'privkey.pem'])
      await symlink(`../../archive/${name}`, join(certificateFiles, name))
    const refused = checkRender({ ...real, TLS_MODE: 'files' }, { out, certificateFiles })
    await expect(refused).rejects.toThrow(
      /fullchain\.pem is a link to \.\.\/\.\.\/archive\/fullchain\.pem, which does not exist/,
    )
  })

  it('rendering refuses a key that does not belong to the certificate; with a matching pair the proxy sends HSTS', async () => {
    const files = places('refused').certificateFiles
    const { out, certificateFiles } = places('other')
    await render(real, { out, certificateFiles })
    const { out: second } = places('real')
    const chain = await readFile(join(out, 'certificates/fullchain.pem'), 'utf8')
    await mkdir(files, { recursive: true })
    await installCertificate(files, chain, await readFile(join(second, 'certificates/privkey.pem'), 'utf8'))
    expect(await problemsOf({ ...real, TLS_MODE: 'files' })).toEqual(['TLS_DIR'])
    await chmod(join(files, 'privkey.pem'), 0o644)
    await writeFile(join(files, 'privkey.pem'), await readFile(join(out, 'certificates/privkey.pem')))
    expect(await problemsOf({ ...real, TLS_MODE: 'files' })).toEqual([])

    // The proxy sends HSTS only with a certificate that clients can verify.
    const insists = async (TLS_MODE: string): Promise<boolean> => {
      await render({ ...real, TLS_MODE }, { out, certificateFiles: files })
      return (await readFile(join(out, 'nginx/nginx.conf'), 'utf8')).includes('Strict-Transport-Security')
    }
    expect([await insists('files'), await insists('selfsigned')]).toEqual([true, false])
  })
})

/** Creates the folders that `.env.example` names, as they are mounted in the containers. */
async function operatorFolders(): Promise<string> {
  const mounted = await mkdtemp(join(packageRoot, '.data/operator-'))
  for (const name of ['TLS_DIR', 'BACKUP_DIR']) await mkdir(join(mounted, name))
  operators.push(mounted)
  return mounted
}

async function readAll(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) found[path.slice(folder.length)] = await readFile(path, 'utf8')
  }
  return found
}
