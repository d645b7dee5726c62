import { request } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import jwt from 'jsonwebtoken'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCli } from '../../services/cli/program.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { RunningState } from '../../services/state/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { DatabaseProxy } from '../integration/database-proxy.ts'
import { startService, StateClient } from './service.ts'
import { patient } from '../setup/patience.ts'

const CHAIN_ID = '1064487b3cd1a897ce03ae5b6a865651747e2e152090f99c1d19d44e01aea5a4'
const chain = { chainId: CHAIN_ID, httpUrl: 'http://127.0.0.1:1' }

let database: TestDatabase
let folder: string
const services: RunningState[] = []

beforeEach(async () => {
  database = await createTestDatabase()
  folder = mkdtempSync(join(tmpdir(), 'pronghorn-keys-'))
  const connections = {
    sqldb: database.address,
    chain: { name: 'test', chain_id: CHAIN_ID, http: chain.httpUrl, ship: 'ws://127.0.0.1:1' },
  }
  writeFileSync(join(folder, 'connections.config.json'), JSON.stringify(connections))
  await query(
    `INSERT INTO chain.readers VALUES ('r', 1, 10, 0, '\\x0a');
     INSERT INTO chain.reversible_blocks VALUES ('r', 10, null, 0, '\\x0a');
     INSERT INTO chain.abis VALUES ('eosio', 5, 'r', '\\x00')`,
  )
})

afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
  rmSync(folder, { recursive: true })
  await database.drop()
})

async function query<R extends object>(text: string): Promise<R[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  try {
    return (await client.query<R>(text)).rows
  } finally {
    await client.end()
  }
}

async function run(...line: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await runCli(line, {
    env: { CONFIG_DIR: folder, LOG_LEVEL: 'silent' },
    isTerminal: false,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    signal: new AbortController().signal,
  })
  return { code, out, err }
}

type Started = Parameters<typeof startService>

async function start(settings: Started[2] = {}, more: Started[3] = {}): Promise<StateClient> {
  const service = await startService(database, chain, settings, {
    keyTiming: { freshMs: 50, usableMs: 1_000, unknownMs: 10 },
    ...more,
  })
  services.push(service)
  return new StateClient(service.url)
}

const issue = (client: StateClient, key: unknown) =>
  client.post<{ token: string; expires_at: number; code?: string }>(
    '/v1/auth/issue',
    JSON.stringify({ api_key: key }),
  )
const askAbi = (client: StateClient) => client.get('/v0/state/abi', { account: 'eosio' })

it('a key is shown once, stored as a hash, listed with its last use, and revoked with its tokens', async () => {
  expect((await run('keys', 'list')).out).toContain('keys create')
  const created = await run(
    'keys',
    'create',
    '--label',
    'wallet of ours',
    '--expires',
    '2100-01-31',
    '--limit',
    '7',
  )
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^server_[0-9a-f]{40}\n$/) as string })
  const key = created.out.trim()
  const id = /key ([0-9a-f]{12})/.exec(created.err)![1]!
  const stored = JSON.stringify(await query("SELECT *, encode(key_hash, 'hex') AS hex FROM access.api_keys"))
  expect(stored).not.toContain(key.slice(7))
  const list = async () => (await run('keys', 'list')).out.split('\n')[1]!
  expect(await list()).toMatch(
    new RegExp(`^${id} +wallet of ours +valid until 2100-01-31T00:00Z +7/min .* never$`),
  )
  const client = await start()
  await client.login(key)
  expect((await askAbi(client)).status).toBe(200)
  await expect.poll(list).toMatch(/\dZ$/)
  expect(await run('keys', 'revoke', id)).toMatchObject({
    code: 0,
    out: expect.stringContaining('within 15 seconds') as string,
  })
  expect(await list()).toContain('revoked')
  expect((await issue(client, key)).status).toBe(401)
  await expect
    .poll(async () => (await askAbi(client)).body.code, { timeout: patient(10_000) })
    .toBe('auth_invalid_token_error')
  expect(await run('keys', 'revoke', id)).toMatchObject({
    code: 2,
    err: expect.stringContaining(id) as string,
  })
  expect(await run('keys', 'create')).toMatchObject({ code: 2 })
  for (const date of ['2001-01-01', '2103-02-31', '2103-02-29T12:00:00Z', '2103/02/31', 'soon'])
    expect(await run('keys', 'create', '--label', 'x', '--expires', date)).toMatchObject({ code: 2 })
})

it('unknown, expired and revoked API keys get the same answer', async () => {
  const client = await start()
  const keys: string[] = []
  for (let i = 0; i < 3; i++) keys.push((await run('keys', 'create', '--label', `key ${i}`)).out.trim())
  await query("UPDATE access.api_keys SET revoked_at = now() WHERE label = 'key 0'")
  await query("UPDATE access.api_keys SET expires_at = now() - interval '1 second' WHERE label = 'key 1'")
  const answers = []
  for (const key of [keys[0], keys[1], `${keys[2]!.slice(0, -1)}x`, 'server_0', 'a'.repeat(200)]) {
    const { status, body, text } = await issue(client, key)
    expect(text).not.toContain(key)
    answers.push({ status, ...body, trace_id: '' })
  }
  for (const answer of answers) {
    expect(answer).toEqual({
      status: 401,
      code: 'auth_invalid_api_key_error',
      message: 'The API key is not valid.',
      trace_id: '',
    })
  }
  expect((await issue(client, keys[2])).status).toBe(200)
  for (const wrong of [undefined, 5, '', 'a'.repeat(300), ['x'], {}]) {
    const { status, body } = await issue(client, wrong)
    const expected = wrong === 5 ? [401, 'auth_invalid_api_key_error'] : [400, 'request_validation_error']
    expect([wrong, status, body.code]).toEqual([wrong, ...expected])
  }
})

it('a token expires with its key, and after the configured time', async () => {
  const client = await start({ tokenTtlSeconds: 600 })
  const soon = new Date(Date.now() + 120_000)
  const key = (await run('keys', 'create', '--label', 'soon', '--expires', soon.toISOString())).out.trim()
  expect((await issue(client, key)).body.expires_at).toBe(Math.floor(soon.getTime() / 1_000))
  const other = (await run('keys', 'create', '--label', 'later')).out.trim()
  const { body } = await issue(client, other)
  expect(Math.abs(body.expires_at - Date.now() / 1_000 - 600)).toBeLessThan(30)
})

it('the number of issued tokens is limited for each address, and for each API key with its own limit', async () => {
  const client = await start({ tokensPerMinute: 4 })
  const limited = (await run('keys', 'create', '--label', 'limited', '--limit', '1')).out.trim()
  expect((await issue(client, limited)).status).toBe(200)
  const second = await issue(client, limited)
  expect([second.status, second.body.code]).toEqual([429, 'auth_rate_limited_error'])
  expect(second.headers.get('x-ratelimit-limit')).toBe('1')
  // Failed attempts count towards the limit of token issuance, and a trailing slash in the path does not bypass it.
  expect((await issue(client, 'wrong')).status).toBe(401)
  const fourth = await client.post('/v1/auth/issue/', '{}')
  expect(fourth.status).toBe(400)
  expect(fourth.headers.get('x-ratelimit-remaining')).toBe('0')
  const fifth = await issue(client, limited)
  expect([fifth.status, fifth.body.code]).toEqual([429, 'auth_rate_limited_error'])
  expect(Number(fifth.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(fifth.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000)
  // Only the issue of tokens is limited; requests for an ABI are not.
  for (let i = 0; i < 20; i++) expect((await askAbi(client)).status).toBe(401)
})

it('signing keys are generated at the first start and shared by all services, and issued tokens stay valid after a rotation', async () => {
  const [first, second] = await Promise.all([start(), start()])
  const signing = () =>
    query<{ key_id: string; retired: boolean }>(
      'SELECT key_id, retired_at IS NOT NULL AS retired FROM access.signing_keys ORDER BY created_at',
    )
  expect(await signing()).toHaveLength(1)
  const key = (await run('keys', 'create', '--label', 'rotated')).out.trim()
  const kidOf = (token: string): unknown => jwt.decode(token, { complete: true })!.header.kid
  await first.login(key)
  second.token = first.token
  expect((await askAbi(second)).status).toBe(200)
  const rotated = await run('rotate-keys')
  expect(rotated.code).toBe(0)
  const [old, fresh] = await signing()
  expect([old!.retired, fresh!.retired]).toEqual([true, false])
  expect(rotated.out).toContain(fresh!.key_id)
  // For some seconds after the rotation the old key still signs, so that every service can read the new key first.
  expect(kidOf((await issue(first, key)).body.token)).toBe(old!.key_id)
  await query("UPDATE access.signing_keys SET retired_at = retired_at - interval '20 seconds'")
  await expect.poll(async () => kidOf((await issue(first, key)).body.token)).toBe(fresh!.key_id)
  // Tokens from before and after the rotation are valid at both services.
  const after = (await issue(first, key)).body.token
  for (const client of [first, second]) {
    expect((await askAbi(client)).status).toBe(200)
    const another = new StateClient(client.url)
    another.token = after
    expect((await askAbi(another)).status).toBe(200)
  }
  // A day later the old key's tokens have expired, and the next rotation deletes the key.
  await query(
    `UPDATE access.signing_keys SET retired_at = now() - interval '26 hours' WHERE key_id = '${old!.key_id}'`,
  )
  await expect.poll(async () => (await askAbi(second)).status).toBe(401)
  await run('rotate-keys')
  expect((await signing()).map(({ key_id }) => key_id)).not.toContain(old!.key_id)
})

it('a retired signing key is valid for tokens issued before it retired, except tokens with a longer lifetime than the service allows', async () => {
  const client = await start({ tokenTtlSeconds: 600 })
  const key = (await run('keys', 'create', '--label', 'rotated')).out.trim()
  await client.login(key)
  const claims = jwt.decode(client.token) as jwt.JwtPayload
  const [old] = await query<{ key_id: string; secret: Buffer }>(
    'SELECT key_id, secret FROM access.signing_keys',
  )
  await run('rotate-keys')
  await query(
    "UPDATE access.signing_keys SET retired_at = now() - interval '60 seconds' WHERE retired_at IS NOT NULL",
  )
  const [current] = await query<{ key_id: string; secret: Buffer }>(
    'SELECT key_id, secret FROM access.signing_keys WHERE retired_at IS NULL',
  )
  const now = Math.floor(Date.now() / 1_000)
  const refusalOf = async (by: { key_id: string; secret: Buffer }, iat: number, seconds: number) => {
    const changed = { ...claims, iat, exp: iat + seconds }
    client.token = jwt.sign(changed, by.secret, { algorithm: 'HS256', keyid: by.key_id })
    const { status, body } = await client.get<{ details?: { reason: string } }>('/v0/state/abi', {
      account: 'eosio',
    })
    return status === 200 ? 'none' : body.details?.reason
  }
  await expect.poll(() => refusalOf(old!, now - 59, 600)).toMatch(/after its signing key was retired/)
  expect(await refusalOf(old!, now, 600)).toMatch(/after its signing key was retired/)
  expect(await refusalOf(old!, now - 70, 600)).toBe('none')
  expect(await refusalOf(old!, now - 700, 600)).toMatch(/expired/)
  expect(await refusalOf(current!, now, 600)).toBe('none')
  for (const by of [old!, current!]) {
    expect(await refusalOf(by, now - 70, 601)).toMatch(/valid for longer than the tokens/)
    expect(await refusalOf(by, now - 70, 10 ** 9)).toMatch(/valid for longer than the tokens/)
  }
  expect(await refusalOf(current!, now + 3_600, 600)).toMatch(/is in the future/)
})

it('a retired signing key stays valid for the longest token lifetime, and is deleted afterwards', async () => {
  const day = 86_400
  const client = await start({ tokenTtlSeconds: day })
  await client.login((await run('keys', 'create', '--label', 'rotated')).out.trim())
  const claims = jwt.decode(client.token) as jwt.JwtPayload
  const [old] = await query<{ key_id: string; secret: Buffer }>(
    'SELECT key_id, secret FROM access.signing_keys',
  )
  await run('rotate-keys')
  const retire = (hours: number) =>
    query(
      `UPDATE access.signing_keys SET retired_at = now() - interval '${hours} hours' WHERE key_id = '${old!.key_id}'`,
    )
  await retire(23)
  const iat = Math.floor(Date.now() / 1_000) - 23 * 3_600 - 60
  const token = { ...claims, iat, exp: iat + day }
  const later = await start({ tokenTtlSeconds: day })
  later.token = jwt.sign(token, old!.secret, { algorithm: 'HS256', keyid: old!.key_id })
  expect((await later.get('/v0/state/abi', { account: 'eosio' })).status).toBe(200)
  await retire(26)
  await run('rotate-keys')
  expect(await query(`SELECT FROM access.signing_keys WHERE key_id = '${old!.key_id}'`)).toEqual([])
})

it('rotate-keys --now revokes the old signing keys and their tokens at once, and the new key signs at once', async () => {
  const client = await start()
  const key = (await run('keys', 'create', '--label', 'leaked')).out.trim()
  await client.login(key)
  await run('rotate-keys')
  expect((await askAbi(client)).status).toBe(200)
  const rotated = await run('rotate-keys', '--now')
  const signing = await query<{ key_id: string }>('SELECT key_id FROM access.signing_keys')
  expect(signing).toHaveLength(1)
  expect(rotated).toMatchObject({ code: 0, out: expect.stringContaining(signing[0]!.key_id) as string })
  await expect
    .poll(async () => (await askAbi(client)).body.details)
    .toMatchObject({
      reason: expect.stringMatching(/unknown key/) as string,
    })
  await client.login(key)
  expect((await askAbi(client)).status).toBe(200)
})

it('a revoked key stays revoked while the database is unavailable, also in a service that starts meanwhile', async () => {
  const proxy = new DatabaseProxy(database.address)
  await proxy.open()
  const direct = database
  database = { ...direct, address: proxy.address }
  const client = await start().finally(() => (database = direct))
  const key = (await run('keys', 'create', '--label', 'revoked')).out.trim()
  const valid = (await run('keys', 'create', '--label', 'valid')).out.trim()
  const other = new StateClient(client.url)
  await client.login(key)
  await other.login(valid)
  const statuses = async () => [(await askAbi(client)).status, (await askAbi(other)).status]
  expect(await statuses()).toEqual([200, 200])
  await query("UPDATE access.api_keys SET revoked_at = now() WHERE label = 'revoked'")
  // Wait longer than the clock tolerance: after this time the service refuses the token without reading the keys again.
  await expect.poll(statuses, { timeout: patient(10_000) }).toEqual([401, 200])
  await proxy.close()
  const seen = new Set<number>()
  const until = performance.now() + 2_000
  while (performance.now() < until) {
    seen.add((await askAbi(client)).status)
    seen.add((await issue(client, key)).status)
  }
  for (const status of seen) expect([401, 503]).toContain(status)
  expect(await statuses()).toEqual([503, 503])
  database = { ...direct, address: proxy.address }
  await expect(start({}, { waitMs: 300 })).rejects.toMatchObject({ code: 'DATABASE_REFUSED' })
  database = direct
  await proxy.open()
  await expect.poll(statuses, { timeout: patient(10_000) }).toEqual([401, 200])
})

it('the state service names every unusable setting and does not start', async () => {
  let err = ''
  const env = {
    CONFIG_DIR: folder,
    STATE_PORT: '70000',
    STATE_TOKEN_TTL_SECONDS: '5',
    STATE_TRUST_PROXY: 'maybe',
  }
  const io = { env, isTerminal: false, out: () => undefined, err: (text: string) => void (err += text) }
  expect(await runCli(['state'], { ...io, signal: new AbortController().signal })).toBe(3)
  for (const name of ['STATE_PORT', 'STATE_TOKEN_TTL_SECONDS', 'STATE_TRUST_PROXY'])
    expect(err).toContain(name)
})

it('a request whose URL cannot be parsed gets status 400 and the code request_error', async () => {
  await start()
  const { port } = services[0]!
  const [status, text] = await new Promise<[number | undefined, string]>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: 'http://[::/healthz' }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve([response.statusCode, body]))
    })
    sent.on('error', reject).end()
  })
  expect([status, JSON.parse(text)]).toEqual([
    400,
    expect.objectContaining({ code: 'request_error', message: 'The URL of the request cannot be parsed' }),
  ])
})

it('a body with more values than any endpoint reads is refused before it is parsed', async () => {
  const client = await start()
  const post = async (path: string, body: string): Promise<unknown> => {
    const answer = await client.post<{ code: string; details: unknown }>(path, body)
    return [answer.status, answer.body.code, answer.body.details]
  }
  const refusal = [400, 'invalid_json_error', { errors: { source: ['The body has too many values'] } }]
  for (const values of ['[],'.repeat(10_000), '['.repeat(10_001), '{},'.repeat(10_000)])
    expect(await post('/v1/auth/issue', `{"api_key":"x","more":[${values}`)).toEqual(refusal)
  await client.login(/server_\w+/.exec((await run('keys', 'create', '--label', 'one')).out)![0])
  expect(await post('/v0/state/tables/accounts', 'accounts=eosio&'.repeat(10_001))).toEqual(refusal)
})
