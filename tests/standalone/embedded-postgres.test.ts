import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { testedServer } from '../setup/tested-server.ts'

/**
 * Script of a child process that runs the built program's server until it is killed. It prints the server's address.
 */
const script = `
import { startEmbeddedPostgres } from '${join(import.meta.dirname, '../../dist/services/standalone/embedded-postgres/index.js')}'
const server = await startEmbeddedPostgres(JSON.parse(process.argv[1]))
console.log(JSON.stringify(server))
setInterval(() => {}, 1000)
`

interface Holder {
  readonly child: ChildProcess
  readonly server: {
    host: string
    port: number
    user: string
    password: string
    dataDir: string
    pid: number
  }
}

let folder: string
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pronghorn-test-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

function spawnHolder(options: object): ChildProcess {
  const flags = ['--input-type=module', '--eval', script, JSON.stringify({ ...testedServer, ...options })]
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

async function startHolder(options: object): Promise<Holder> {
  const child = spawnHolder(options)
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, server: JSON.parse(line.toString()) as Holder['server'] }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Number of processes with a working directory in a folder. PostgreSQL processes work in their data folder. */
async function processesIn(dataDir: string): Promise<number> {
  const { stdout } = spawn('sh', ['-c', `ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -cF '${dataDir}'`])
  let text = ''
  for await (const chunk of stdout) text += String(chunk)
  return Number(text)
}

it('when the program is killed, its embedded PostgreSQL stops, and its temporary folder is deleted', async () => {
  const { child, server } = await startHolder({})
  const base = join(server.dataDir, '..')
  expect(await isThere(base)).toBe(true)
  await kill(child)
  await expect.poll(() => isThere(base)).toBe(false)
  await expect.poll(() => processesIn(server.dataDir)).toBe(0)
})

it('the embedded PostgreSQL refuses a folder that another process uses, names that process, and leaves its server running', async () => {
  // Leftovers that a first start must accept: the password of an earlier version, an interrupted initdb, and
  // `lost+found`, the folder of a fresh ext4 disk.
  await writeFile(join(folder, 'postgres.password'), `${'a'.repeat(24)}\n`)
  for (const name of ['postgres.new', 'lost+found']) await mkdir(join(folder, name))
  const { child, server } = await startHolder({ dataDir: folder })
  await expect(startEmbeddedPostgres({ ...testedServer, dataDir: folder })).rejects.toMatchObject({
    code: 'DATA_FOLDER_HELD',
    message: expect.stringMatching(
      new RegExp(`^process ${String(child.pid)} on .* is using ${folder}`),
    ) as string,
  })
  const client = await connectDatabase({ ...server, database: 'postgres' }, { applicationName: 'test' })
  await client.end()
  // The lock file counts only while the process that wrote it lives.
  await kill(child)
  const next = await startEmbeddedPostgres({ ...testedServer, dataDir: folder })
  expect(next.password).toBe(server.password)
  await next.stop()
  expect(await isThere(join(folder, 'pronghorn.lock'))).toBe(false)
})

it('the embedded PostgreSQL starts in a folder whose first start was killed during initdb', async () => {
  const child = spawnHolder({ dataDir: folder })
  await expect
    .poll(() => isThere(join(folder, 'pronghorn.new', 'postgres', 'PG_VERSION')), { interval: 5 })
    .toBe(true)
  await kill(child)
  const server = await startEmbeddedPostgres({ ...testedServer, dataDir: folder })
  await server.stop()
  expect((await readdir(folder)).sort()).toEqual(['postgres', 'postgres.password'])
})

it.each([
  ['a file', ['mydoc.txt'], 'mydoc.txt'],
  ['a file next to lost+found', ['lost+found/x', 'mydoc.txt'], 'mydoc.txt'],
  ['files with names of PostgreSQL', ['postgres/mine/f', 'postgres/pg_dumpall.sql'], 'postgres/mine'],
  ['database files that Pronghorn did not create', ['PG_VERSION', 'base/1/1'], 'PG_VERSION'],
  ['an unmarked pronghorn.new folder', ['pronghorn.new/postgres/PG_VERSION'], 'pronghorn.new/postgres'],
  ['a postgres.new folder without a password file', ['postgres.new/mine'], 'postgres.new/mine'],
  ['a foreign password file', ['postgres.password'], 'postgres.password'],
  ['a foreign api-key file', ['api-key'], 'api-key'],
])('the embedded PostgreSQL refuses a folder with %s, and touches nothing', async (_, files, named) => {
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), 'mine')
  }
  const listing = async () => (await readdir(folder, { recursive: true })).sort()
  const before = { names: await listing(), owner: (await stat(folder)).uid }
  await expect(startEmbeddedPostgres({ ...testedServer, dataDir: folder })).rejects.toMatchObject({
    code: 'DATA_FOLDER_UNUSABLE',
    message: expect.stringContaining(`holds "${named}"`) as string,
  })
  expect({ names: await listing(), owner: (await stat(folder)).uid }).toEqual(before)
  for (const file of files) expect(await readFile(join(folder, file), 'utf8')).toBe('mine')
})

it('the embedded PostgreSQL starts in a data folder without postmaster.opts, and keeps data and foreign files', async () => {
  const server = await startEmbeddedPostgres({ ...testedServer, dataDir: folder })
  const address = { ...server, database: 'postgres' }
  const client = await connectDatabase(address, { applicationName: 'test' })
  await client.query('CREATE TABLE precious (id integer)')
  await client.end()
  await server.stop()
  // A data folder from a base backup has no `postmaster.opts`, and is accepted. Files of the operator next to the
  // database are not removed.
  await rm(join(folder, 'postgres', 'postmaster.opts'))
  await writeFile(join(folder, 'notes.txt'), 'mine')
  const again = await startEmbeddedPostgres({ ...testedServer, dataDir: folder })
  const reader = await connectDatabase({ ...again, database: 'postgres' }, { applicationName: 'test' })
  await reader.query('SELECT * FROM precious')
  await reader.end()
  await again.stop()
  expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine')
})

it('the embedded PostgreSQL restarts at once after all processes were killed under load', async () => {
  const { child, server } = await startHolder({ dataDir: folder })
  const client = await connectDatabase({ ...server, database: 'postgres' }, { applicationName: 'test' })
  client.on('error', () => undefined)
  // The query keeps the PostgreSQL backend busy, so the backend does not notice that the postmaster is gone.
  const busy = client.query('SELECT count(*) FROM generate_series(1, 1000000000000)').catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 300))
  // Kill PostgreSQL first: if only the program were killed, its guard process would stop PostgreSQL in order.
  process.kill(server.pid, 'SIGKILL')
  await kill(child)
  const next = await startEmbeddedPostgres({ ...testedServer, dataDir: folder })
  await busy
  await next.stop()
})

it("the embedded PostgreSQL takes over a lock whose holder is dead, although another process has the holder's process id", async () => {
  const holder = { pid: process.ppid, started: '1', host: hostname() }
  await writeFile(join(folder, 'pronghorn.lock'), JSON.stringify(holder))
  const server = await startEmbeddedPostgres({ ...testedServer, dataDir: folder })
  expect(await readFile(join(folder, 'pronghorn.lock'), 'utf8')).toContain(`"pid":${process.pid},`)
  await server.stop()
})
