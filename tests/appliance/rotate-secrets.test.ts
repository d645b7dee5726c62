import { execFileSync, spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../services/cli/program.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'
import { testedServer } from '../setup/tested-server.ts'

let server: EmbeddedPostgres
let folder: string

beforeAll(async () => {
  server = await startEmbeddedPostgres(testedServer)
  folder = await mkdtemp(join(tmpdir(), 'pronghorn-rotate-'))
  await mkdir(join(folder, 'secrets'))
  await writeFile(join(folder, 'secrets/superuser'), server.password)
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const run = (...line: string[]): Promise<string> => runWith({}, ...line)

async function runWith(more: Readonly<Record<string, string>>, ...line: string[]): Promise<string> {
  let out = ''
  const env = {
    CHAIN_NAME: 'test',
    CHAIN_ID: 'a0'.repeat(32),
    CHAIN_HTTP: 'http://node.test',
    CHAIN_SHIP: 'ws://node.test',
    PG_MEMORY: '256m',
    POSTGRES_HOST: server.host,
    POSTGRES_PORT: String(server.port),
    POSTGRES_SUPERUSER: server.user,
    REDIS_HOST: '127.0.0.1',
    REDIS_PORT: '1',
    LOG_LEVEL: 'silent',
    ...more,
  }
  const say = (text: string): void => void (out += text)
  const io = { env, isTerminal: false, out: say, err: say, signal: new AbortController().signal }
  const code = await runCli(line, io)
  expect([code, out]).toEqual([0, out])
  return out
}

interface SigningRow {
  readonly id: string
  /** Whether the service signs new tokens with the key. */
  readonly signs: boolean
}

/** Reads the signing keys with the database role of the state service. */
async function signingKeys(): Promise<SigningRow[]> {
  const password = await readFile(join(folder, 'secrets/state'), 'utf8')
  const { host, port } = server
  const address = { host, port, user: 'pronghorn_state', password, database: 'pronghorn' }
  const client = await connectDatabase(address, { applicationName: 'test' })
  const { rows } = await client.query<SigningRow>(
    `SELECT key_id AS id, retired_at IS NULL OR retired_at > now() AS signs FROM access.signing_keys
     ORDER BY retired_at NULLS LAST`,
  )
  await client.end()
  return rows
}

it('rotate-secrets replaces the signing key; with --now the old key becomes invalid at once', async () => {
  await run('render-config', '--out', folder)
  await run('prepare-database', '--rendered', folder)
  await run('prepare-database', '--rendered', folder, '--database', 'pronghorn_trial')
  await run('rotate-secrets', '--rendered', folder)
  const [first] = await signingKeys()
  await run('rotate-secrets', '--rendered', folder)
  const both = await signingKeys()
  expect(both.map(({ signs }) => signs)).toEqual([true, true])
  expect(both[0]).toEqual(first)
  const said = await run('rotate-secrets', '--now', '--rendered', folder)
  const [last, ...others] = await signingKeys()
  expect(others).toEqual([])
  expect(both.map(({ id }) => id)).not.toContain(last!.id)
  expect(said).toContain(last!.id)
})

it('a refused .env leaves the rendered files in use, and prepare-database uses these files', async () => {
  const wrong = { CACHE_LIFE: '2s', CHAIN_ID: 'b0' }
  const said = await runWith(wrong, 'render-config', '--out', folder, '--or-former')
  const [phrase = ''] = /^The former configuration stays in use/m.exec(said) ?? []
  expect(said).toMatch(/environment: CACHE_LIFE: found "2s"/)
  // scripts/common.sh searches the output of the program for this phrase to detect a refused .env.
  expect(await readFile(join(packageRoot, 'scripts/common.sh'), 'utf8')).toContain(`*'${phrase}'*`)
  await runWith(wrong, 'prepare-database', '--rendered', folder)
})

it('prepare-database --database prepares the named database', async () => {
  const password = await readFile(join(folder, 'secrets/filler'), 'utf8')
  const { host, port } = server
  const address = { host, port, user: 'pronghorn_filler', password, database: 'pronghorn_trial' }
  const client = await connectDatabase(address, { applicationName: 'test' })
  expect((await client.query('SELECT 1 FROM chain.readers')).rows).toEqual([])
  await client.end()
})

it('scripts/rotate-secrets checks the settings first, passes --now on, and refuses other arguments', async () => {
  const programs = join(folder, 'programs')
  for (const name of ['scripts', 'programs']) await mkdir(join(folder, name))
  for (const name of ['scripts/rotate-secrets', 'scripts/common.sh'])
    await cp(join(packageRoot, name), join(folder, name))
  // Replaces docker by a script that prints its arguments.
  await writeFile(join(programs, 'docker'), '#!/bin/sh\n[ "$2" = ps ] || echo "$@"\n', { mode: 0o755 })
  await writeFile(join(folder, 'scripts/check'), '#!/bin/sh\necho checked\nexit "${CHECKED:-0}"\n', {
    mode: 0o755,
  })
  const env = { ...process.env, PATH: [programs, process.env.PATH].join(delimiter) }
  const script = (...words: string[]): string =>
    execFileSync(join(folder, 'scripts/rotate-secrets'), words, { env, encoding: 'utf8', stdio: 'pipe' })
  const refused = spawnSync(join(folder, 'scripts/rotate-secrets'), [], {
    env: { ...env, CHECKED: '3' },
    encoding: 'utf8',
  })
  expect([refused.status, refused.stdout, refused.stderr]).toEqual([3, '', 'checked\n'])
  const rotate = 'compose run --rm --no-TTY --no-deps rotate rotate-secrets'
  expect(script()).toBe(`${rotate}\n${rotate} --settle\n`)
  expect(script('--now')).toBe(`${rotate} --now\n${rotate} --settle\n`)
  expect(() => script('--later')).toThrow(/usage: rotate-secrets \[--now\]/)
})
