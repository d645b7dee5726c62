import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../services/appliance/smoke/client.ts'
import { images } from '../../services/core/images/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { patient } from '../setup/patience.ts'
import { applianceVariables, composeFiles, run, whyNoEngine } from './engine.ts'

const PROJECT = 'pronghorn-operator'
const ports = { http: 33_080, https: 33_443 }
const IMAGE = `${PROJECT}:tried`
const LONGEST = 3_600_000
const POSTGRES_USER = 999
const OLD = `${PROJECT}-old`
const PASSWORD = 'of the old one'
/** Folders that belong to the operator. */
const folder = join('.data', PROJECT)
const disks = { moved: join(packageRoot, folder, 'moved'), first: join(packageRoot, folder, 'first') }

let variables: Record<string, string> = {
  ...applianceVariables(PROJECT, ports),
  ...{ PRONGHORN_IMAGE: IMAGE, API_WORKERS: '1', PG_MEMORY: '1g' },
  // Variables that the commands of the documentation use.
  ...{ PGPASSWORD: PASSWORD, START_BLOCK: '1' },
}
const contracts = ['atomicassets', 'atomicmarket', 'delphioracle', 'atomictoolsx']
const ownReaders = { CONFIG_FILES: `./${folder}/config`, SERVER_TOOLS_CONNECTED_READER: 'tools' }

const compose = (...words: string[]): Promise<string> => run(variables, 'docker', 'compose', ...words)
const docker = (...words: string[]): Promise<string> => run(variables, 'docker', ...words)

/** Returns the fenced code blocks of one section of a documentation page. */
async function blocksOf(page: string, heading: string, language: string): Promise<string[]> {
  const text = await readFile(join(packageRoot, 'docs', page), 'utf8')
  const start = text.indexOf(`## ${heading}\n`)
  const end = text.indexOf('\n## ', start + 1)
  const part = text.slice(start, end < 0 ? undefined : end)
  return [...part.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , block]) => block!)
}

/** Runs the block of "Other commands in containers" that contains the command, exactly as documented. */
async function runCommands(
  command: string,
  replaced: Readonly<Record<string, string>> = {},
): Promise<string> {
  const blocks = await blocksOf('operate.md', 'Other commands in containers', 'sh')
  let [block = ''] = blocks.filter((each) => each.includes(command))
  expect(block).toContain(command)
  for (const [name, value] of Object.entries(replaced)) block = block.replaceAll(name, value)
  return run(variables, 'bash', '-euc', block)
}

const status = z.object({
  data: z.object({
    postgres: z.object({
      readers: z.array(z.object({ reader: z.string().optional(), block_num: z.string() })),
    }),
  }),
})

async function blocks(): Promise<number[]> {
  const { text } = await createClient(new URL(`https://localhost:${ports.https}`), true)('/health')
  return status.parse(JSON.parse(text)).data.postgres.readers.map(({ block_num }) => Number(block_num))
}

/** Waits until `readers` readers have each committed a block above `block`. */
const reach = (block: number, readers = 1): Promise<void> =>
  expect
    .poll(async () => (await blocks()).filter((at) => at > block).length, {
      timeout: patient(120_000),
      interval: 1_000,
    })
    .toBeGreaterThanOrEqual(readers)

const psql = (container: string, sql: string): Promise<string> =>
  docker('exec', container, 'psql', '-U', 'postgres', '-Atc', sql, 'pronghorn')

/**
 * Returns the public image of Prometheus. If no registry is reachable, builds an image with the Prometheus of this
 * machine.
 */
async function prometheusImage(): Promise<string> {
  const isThere = await docker('pull', '--quiet', images.prometheus).then(
    () => true,
    () =>
      docker('image', 'inspect', images.prometheus).then(
        () => true,
        () => false,
      ),
  )
  if (isThere) return images.prometheus
  const built = await mkdtemp(join(tmpdir(), 'pronghorn-prometheus-'))
  await copyFile(findProgram('prometheus')!, join(built, 'prometheus'))
  await writeFile(
    join(built, 'Dockerfile'),
    [
      // The image is based on nginx, which has curl but no wget. The health check of the container calls wget.
      `FROM ${images.nginx}`,
      'COPY prometheus /bin/prometheus',
      `RUN printf '#!/bin/sh\\nexec curl --silent --fail --output /dev/null "$4"\\n' > /usr/bin/wget && chmod 755 /usr/bin/wget && install -d -o 65534 -g 65534 /prometheus`,
      'ENTRYPOINT ["/bin/prometheus"]',
    ].join('\n'),
  )
  await docker('build', '--quiet', '--tag', `${PROJECT}:prometheus`, built)
  await rm(built, { recursive: true })
  return `${PROJECT}:prometheus`
}

async function clean(): Promise<void> {
  await docker('rm', '--force', '--volumes', OLD).catch(() => undefined)
  await compose('--profile', '*', 'down', '--volumes', '--timeout', '5')
}

describeUnless(whyNoEngine(), 'documented operations of an operator with containers', () => {
  beforeAll(async () => {
    await clean()
    await rm(join(packageRoot, folder), { recursive: true, force: true })
    await mkdir(join(packageRoot, folder, 'config'), { recursive: true })
    await docker('build', '--quiet', '--tag', IMAGE, '.')
  }, LONGEST)

  afterAll(async () => {
    await clean()
    await rm(join(packageRoot, folder), { recursive: true, force: true })
  }, LONGEST)

  it(
    "with two readers in the operator's readers file, containers index blocks, verify and repair rows, and compute digests",
    async () => {
      const [readers] = await blocksOf('operate.md', 'First start', 'json')
      // `verify --repair` takes the correct rows from the tables that the handler `state` (the state history writer)
      // fills.
      const state = `{ "handler": "state", "args": { "accounts": ${JSON.stringify(contracts)} } },`
      const text = readers!.replace('"contracts": [', `"contracts": [${state}`)
      await writeFile(join(packageRoot, folder, 'config/readers.config.json'), text)
      variables = { ...variables, ...ownReaders }
      await compose('up', '--detach', '--wait')
      await reach(900, 2)
      const shown = await compose(
        ...[
          'exec',
          '--no-TTY',
          'filler',
          'node',
          'dist/services/cli/main.js',
          'config',
          'show',
          '--of',
          'filler',
        ],
      )
      expect(shown).toMatch(/"name": "main"[^]*"name": "tools"/)
      const ask = createClient(new URL(`https://localhost:${ports.https}`), true)
      // One of the recorded blocks creates the first link.
      for (const path of ['/atomicassets/v1/assets?limit=1', '/atomictools/v1/links?limit=1']) {
        const count = async (): Promise<number> =>
          (JSON.parse((await ask(path)).text) as { data: unknown[] }).data.length
        await expect.poll(count, { timeout: patient(120_000), interval: 1_000 }).toBe(1)
      }

      const looked = await runCommands('filler verify ')
      expect(looked).toMatch(/No differences: \d+ rows of 27 tables/)
      expect(looked).toMatch(/^all +[0-9a-f]{32}$/m)
      // Hide the native ABI library: `verify` must use Pronghorn's own decoder. ARM64 is a platform without the native
      // library.
      const hidden = ['--volume', `${join(packageRoot, folder, 'config')}:/pronghorn/node_modules/@eosrio:ro`]
      const own = await compose('run', '--rm', '--no-TTY', '--no-deps', ...hidden, 'filler', 'verify')
      expect(own).toMatch(/does not load on this machine[^]*No differences/)

      await psql(`${PROJECT}-postgres-1`, "UPDATE assets.config SET standard = 'damaged'")
      expect(await runCommands('verify --state --repair --yes')).toMatch(/damaged/)
      expect(await psql(`${PROJECT}-postgres-1`, 'SELECT standard FROM assets.config')).not.toContain(
        'damaged',
      )
      await reach(Math.max(...(await blocks())), 2)
    },
    LONGEST,
  )

  it(
    'a volume moves to a disk of the host as own-servers.md describes, and the filler watches that disk',
    async () => {
      const before = Math.max(...(await blocks()))
      const [, move = ''] = await blocksOf(
        'own-servers.md',
        'Where the bundled PostgreSQL stores its data',
        'sh',
      )
      expect(move).toContain('docker volume rm')
      variables = { ...variables, DATA_LOCATION: disks.moved }
      // DATA_LOCATION may be set now: the documented commands before the next start (`down`, copying the files) do not
      // read it.
      const lines = move
        .replaceAll('/mnt/nvme/pronghorn', disks.moved)
        .replaceAll('pronghorn_postgres-data', `${PROJECT}_postgres-data`)
        .replaceAll('sudo ', '')
      await run(variables, 'bash', '-euc', lines)
      expect(existsSync(join(disks.moved, 'pgdata/PG_VERSION'))).toBe(true)
      await reach(before, 2)
      const metrics = await compose(
        'exec',
        '--no-TTY',
        'filler',
        'bash',
        'infra/probe.sh',
        '--print',
        '/metrics',
      )
      expect(metrics).toMatch(/^pronghorn_database_disk_free_bytes\S* [1-9]/m)
      expect(await run(variables, 'scripts/doctor')).not.toMatch(/^fail/m)
    },
    LONGEST,
  )

  const whyNoPrometheus =
    findProgram('prometheus') === undefined ? 'there is no prometheus on the PATH' : undefined
  it.skipIf(whyNoPrometheus)(
    'Prometheus of the monitoring profile scrapes every service of the appliance, and no alert fires',
    async () => {
      variables = { ...variables, PROMETHEUS_IMAGE: await prometheusImage() }
      await compose('--profile', 'monitoring', 'up', '--detach', '--wait', '--no-recreate', 'prometheus')
      const inside = (path: string): Promise<string> =>
        compose(
          'exec',
          '--no-TTY',
          'nginx',
          'curl',
          '--silent',
          '--fail',
          `http://prometheus:9090/api/v1/${path}`,
        )
      const addresses = async (): Promise<string[]> => {
        const { data } = JSON.parse(await inside('targets')) as {
          data: { activeTargets: { labels: { job: string; instance: string }; health: string }[] }
        }
        return data.activeTargets
          .map(({ labels, health }) => `${labels.job} ${labels.instance.replace(/.*:/, '')} ${health}`)
          .sort()
      }
      const shipped = ['api 9100 up', 'filler 9001 up', 'state 9110 up']
      await expect.poll(addresses, { timeout: patient(90_000), interval: 2_000 }).toEqual(shipped)
      expect(await inside('alerts')).not.toContain('"state":"firing"')
      expect(await inside('rules')).toContain('ReaderNoCommit')

      // Leave out Grafana, because its image is not available offline.
      const withoutGrafana = join(folder, 'without-grafana.yml')
      await writeFile(
        join(packageRoot, withoutGrafana),
        'services: { grafana: { profiles: !override [nobody] } }\n',
      )
      const container = await compose('ps', '--quiet', 'prometheus')
      await run(
        {
          ...variables,
          ...{ COMPOSE_FILE: [...composeFiles, withoutGrafana].join(':'), COMPOSE_PROFILES: 'monitoring' },
          STATE_METRICS_PORT: '9210',
        },
        'scripts/apply',
      )
      await expect.poll(addresses, { timeout: patient(90_000), interval: 2_000 }).toContain('state 9210 up')
      expect(await addresses()).toHaveLength(3)
      expect(await compose('ps', '--quiet', 'prometheus')).toBe(container)
    },
    LONGEST,
  )

  it(
    'a first start with an empty folder of the host imports the chain state',
    async () => {
      await clean()
      const { CONFIG_FILES, SERVER_TOOLS_CONNECTED_READER, START_BLOCK, ...rest } = variables
      await mkdir(disks.first)
      await chown(disks.first, POSTGRES_USER, POSTGRES_USER)
      variables = { ...rest, DATA_LOCATION: disks.first }
      // Start the node of the demo chain.
      await compose('up', '--detach', '--wait', 'devchain')
      expect(await runCommands('import-state')).toMatch(/block \d+/)
      expect(existsSync(join(disks.first, 'pgdata/PG_VERSION'))).toBe(true)
      await reach(1)
      expect(await compose('run', '--rm', '--no-TTY', '--no-deps', 'filler', 'verify')).toMatch(
        /No differences/,
      )
    },
    LONGEST,
  )

  it(
    'containers import a database of the replaced system',
    async () => {
      await clean()
      const { DATA_LOCATION, ...rest } = variables
      variables = rest
      await compose('up', '--detach', '--wait', 'devchain')
      await docker(
        ...[
          'run',
          '--detach',
          '--name',
          OLD,
          '--network',
          `${PROJECT}_outside`,
          '--network-alias',
          'old.test',
        ],
        ...['--env', `POSTGRES_PASSWORD=${PASSWORD}`, images.postgres],
      )
      await expect
        .poll(() => docker('exec', OLD, 'pg_isready', '-h', '127.0.0.1').catch(String), {
          timeout: patient(60_000),
        })
        .toContain('accepting')
      const dump = gunzipSync(
        await readFile(join(packageRoot, 'tests/fixtures/old-database/main-740.sql.gz')),
      )
      execFileSync(
        'docker',
        ['exec', '--interactive', OLD, 'psql', '-q', '-h', '127.0.0.1', '-U', 'postgres'],
        {
          input: dump,
          stdio: ['pipe', 'ignore', 'pipe'],
        },
      )
      const source = { reader: 'postgres', HOST: 'old.test', DATABASE: 'postgres' }
      expect(await runCommands('import-database', source)).toMatch(
        /^Imported at block 730 [^]*reader main continues with block 731/m,
      )
      await reach(1_000)
      expect(await compose('run', '--rm', '--no-TTY', '--no-deps', 'filler', 'verify')).toMatch(
        /No differences/,
      )
    },
    LONGEST,
  )
})
