import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDfuseClient, InMemoryApiTokenStore } from '@dfuse/client'
import { Validator } from '@seriousme/openapi-schema-validator'
import jwt from 'jsonwebtoken'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyText } from '../../services/core/antelope/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { RunningState } from '../../services/state/index.ts'
import { readRecording } from '../decode/recordings.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readSetAbis } from './recorded-abis.ts'
import { makeKey, startService, StateClient } from './service.ts'
import { patient } from '../setup/patience.ts'

const fixtures = join(import.meta.dirname, '../fixtures/recordings')
const LAST = 964
/** Block in which the contract upgrade sets its ABI; the block before sets the code. */
const UPGRADE = 863
const kept = ['atomicassets', 'atomicmarket', 'eosio.token', 'karmatoken']

let database: TestDatabase
let running: TestChain
let service: RunningState
let key: string
const client = (): StateClient => new StateClient(service.url)
let user: StateClient

beforeAll(async () => {
  database = await createTestDatabase()
  running = await startChain({ recordings: ['main', 'v2'] })
  await indexUntil(running, database.address, LAST, {
    settings: {
      contracts: [{ handler: 'state', args: { accounts: kept, permissions: true, history_blocks: 0 } }],
    },
  })
  service = await startService(database, { chainId: running.chain.chainId, httpUrl: running.httpUrl })
  ;({ key } = await makeKey(database))
  user = client()
  await user.login(key)
}, patient(60_000))

afterAll(async () => {
  await service.close()
  await running.chain.stop()
  await database.drop()
})

function chainTable(recording: string, name: string): unknown {
  return JSON.parse(readFileSync(join(fixtures, recording, 'tables', `${name}.json`), 'utf8'))
}

describe('a token of the state service', () => {
  it('a token is issued for an API key, with any content type of the request', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'nonsense']) {
      const before = Math.floor(Date.now() / 1_000)
      const { status, body } = await client().post<{ token: string; expires_at: number }>(
        '/v1/auth/issue',
        JSON.stringify({ api_key: key }),
        { 'Content-Type': type, 'cache-control': 'no-cache' },
      )
      expect([type, status, Object.keys(body)]).toEqual([type, 200, ['token', 'expires_at']])
      const decoded = jwt.decode(body.token, { complete: true })!
      expect(decoded.header).toMatchObject({
        alg: 'HS256',
        typ: 'JWT',
        kid: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      })
      expect(decoded.payload).toMatchObject({
        iss: 'pronghorn',
        aud: `pronghorn-state:${running.chain.chainId}`,
        exp: body.expires_at,
        jti: expect.any(String) as string,
      })
      expect(body.expires_at).toBeGreaterThanOrEqual(before + 3_600)
      expect(body.expires_at).toBeLessThanOrEqual(before + 3_600 + 60)
    }
  })

  it('a token is read from the header Authorization, whose scheme may have any letter case, or else from the query', async () => {
    const path = '/v0/state/abi?account=atomicassets'
    const ask = async (header: string | null, query: string): Promise<number> => {
      const headers: Record<string, string> = header === null ? {} : { Authorization: header }
      return (await client().send(path + query, { headers })).status
    }
    const { token } = user
    expect(await ask(`bearer ${token}`, '')).toBe(200)
    expect(await ask(`BEARER  ${token}`, '&token=nonsense')).toBe(200)
    expect(await ask(null, `&token=${token}`)).toBe(200)
    expect(await ask('Basic abc', `&token=${token}`)).toBe(200)
    expect(await ask('Bearer nonsense', `&token=${token}`)).toBe(401)
  })

  it.each([
    ['the request has none', {}],
    ['the header is malformed and the query has no token', { Authorization: 'Bearer' }],
    ['the header has another scheme', { Authorization: 'Basic YWJj' }],
  ])('the token counts as missing if %s', async (_, headers) => {
    const { status, body } = await client().send('/v0/state/abi?account=eosio', { headers })
    expect(status).toBe(401)
    expect(body).toMatchObject({
      code: 'auth_token_missing_error',
      message: 'Required authorization token not found.',
    })
  })

  it('a token that is invalid is refused with the reason, and never repeated in the answer', async () => {
    const admin = await connectDatabase(database.address, { applicationName: 'test' })
    const { rows } = await admin.query<{ key_id: string; secret: Buffer }>(
      'SELECT key_id, secret FROM access.signing_keys',
    )
    await admin.end()
    const { key_id: keyid, secret } = rows[0]!
    const { payload } = jwt.decode(user.token, { complete: true })!
    const claims = payload as jwt.JwtPayload
    const { exp: _exp, ...endless } = claims
    const now = Math.floor(Date.now() / 1_000)
    const sign = (changes: object, options: jwt.SignOptions = {}, by: Buffer | string = secret): string =>
      jwt.sign({ ...claims, ...changes }, by, { algorithm: 'HS256', keyid, ...options })
    const unsigned = [{ alg: 'none', typ: 'JWT', kid: keyid }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const tokens: Record<string, [token: string, reason: RegExp]> = {
      good: [sign({}), /^$/],
      expired: [sign({ exp: now - 1 }), /expired/],
      'signed with another secret': [sign({}, {}, Buffer.alloc(32, 1)), /signature is wrong/],
      'with an unknown key id': [sign({}, { keyid: '0123456789abcdef' }), /unknown key/],
      'without key id': [jwt.sign(claims, secret), /unknown key/],
      unsigned: [`${unsigned}.`, /not signed|malformed/],
      'with alg none and a signature': [
        `${unsigned}.${user.token.split('.')[2]!}`,
        /algorithm|signature|malformed/,
      ],
      'of another algorithm': [sign({}, { algorithm: 'HS512' }), /algorithm/],
      'for another audience': [sign({ aud: 'pronghorn-state:else' }), /audience/],
      'of another issuer': [sign({ iss: 'somebody' }), /issuer/],
      'not valid yet': [sign({ nbf: now + 600 }), /not valid yet/],
      'of an API key that does not exist': [sign({ aki: 'ffffffffffff' }), /API key/],
      truncated: [user.token.slice(0, -5), /signature|malformed/],
      'cut in the middle': [user.token.slice(0, 60), /malformed/],
      'without an expiry': [jwt.sign(endless, secret, { algorithm: 'HS256', keyid }), /never expires/],
      'with a critical extension': [
        sign({}, { header: { alg: 'HS256', kid: keyid, crit: ['x'], x: 1 } as never }),
        /extension/,
      ],
      'no token at all': ['not-a-token', /malformed/],
      'very long': [`${'a'.repeat(5_000)}.b.c`, /malformed/],
    }
    for (const [name, [token, reason]] of Object.entries(tokens)) {
      const asked = client()
      asked.token = token
      const { status, text, body } = await asked.get<{ code?: string; details?: { reason: string } }>(
        '/v0/state/abi',
        {
          account: 'atomicassets',
        },
      )
      if (name === 'good') {
        expect(status).toBe(200)
        continue
      }
      expect([name, status, body.code]).toEqual([name, 401, 'auth_invalid_token_error'])
      expect([name, body.details!.reason]).toEqual([name, expect.stringMatching(reason)])
      expect(text).not.toContain(token.slice(0, 30))
      const claimsText = token.split('.')[1] ?? ''
      if (claimsText.length > 8) expect(text).not.toContain(claimsText)
    }
  })
})

describe('an ABI', () => {
  it('requests for the block before an upgrade return the old ABI, requests for the upgrade block the new ABI, in the JSON form of nodeos', async () => {
    for (const [recording, block, set] of [
      ['main', UPGRADE - 1, 21],
      ['v2', UPGRADE, UPGRADE],
      ['v2', LAST, UPGRADE],
    ] as const) {
      const { status, body } = await user.get<{ abi: unknown }>('/v0/state/abi', {
        account: 'atomicassets',
        block_num: block,
        json: true,
      })
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual(['block_num', 'account', 'abi'])
      expect(body).toMatchObject({ block_num: set, account: 'atomicassets' })
      // Nodes omit empty lists at the end of an ABI, and print error codes as numbers.
      const expected = chainTable(recording, 'atomicassets.abi') as object
      expect({ ...expected, ...(body.abi as object) }).toEqual(body.abi)
      expect(body.abi).toMatchObject(expected)
    }
  })

  it('the packed ABI of every account at every block equals the bytes in its setabi action', async () => {
    const set = [...readSetAbis(readRecording('main')), ...readSetAbis(readRecording('v2'))]
    expect(set.length).toBeGreaterThan(12)
    for (const { block, account } of set) {
      // If a block sets several ABIs of an account, the last one counts.
      const last = set.findLast((each) => each.account === account && each.block === block)!
      const next = set.find((each) => each.account === account && each.block > block)
      for (const asked of [block, (next?.block ?? LAST + 1) - 1]) {
        const { body } = await user.get('/v0/state/abi', { account, block_num: asked })
        expect(body).toEqual({ block_num: block, account, abi: last.hex })
      }
    }
  })

  it('a request without block_num, or with block_num 0, returns the ABI at the head', async () => {
    const head = await user.get('/v0/state/abi', { account: 'atomicassets' })
    expect(head.body).toMatchObject({
      block_num: UPGRADE,
      abi: expect.stringMatching(/^[0-9a-f]+$/) as string,
    })
    expect((await user.get('/v0/state/abi', { account: 'atomicassets', block_num: 0 })).body).toEqual(
      head.body,
    )
    for (const json of ['false', '0', 'yes', 'TRUE'])
      expect((await user.get('/v0/state/abi', { account: 'atomicassets', json })).body).toEqual(head.body)
    const { headers } = await user.send('/v0/state/abi?account=a&account=atomicassets&block_nun=5', {})
    expect(headers.get('warning')).toMatch(/account was given several times.*no parameter block_nun; it is/)
    const asJson = await user.get('/v0/state/abi', { account: 'atomicassets', json: 'true' })
    expect((await user.get('/v0/state/abi', { account: 'atomicassets', json: '1' })).text).toBe(asJson.text)
  })
})

interface ErrorCase {
  readonly path: string
  readonly query?: Record<string, string | number>
  readonly status: number
  readonly code: string
  readonly details?: unknown
  readonly post?: string
}

const row = { account: 'atomicassets', table: 'config', scope: 'atomicassets' }
const TABLE = '/v0/state/table'
const BIN_TO_JSON = '/v0/state/abi/bin_to_json'

const errorCases: Record<string, ErrorCase> = {
  'a parameter that is no name': {
    path: '/v0/state/abi',
    query: { account: 'UPPER' },
    status: 400,
    code: 'request_validation_error',
    details: { errors: { account: ['The account field must be a valid EOS name'] } },
  },
  'several parameters': {
    path: `${TABLE}/row`,
    query: { account: 'abcdefghijklmn', key_type: 'nope' },
    status: 400,
    code: 'request_validation_error',
    details: {
      errors: {
        account: ['The account field must be a valid EOS name'],
        table: ['The table field is required'],
        scope: ['The scope field is required'],
        primary_key: ['The primary_key field is required'],
        key_type: ['The key_type field must be one of name, hex, hex_be, uint64, symbol, symbol_code'],
      },
    },
  },
  'a block that is no number': {
    path: '/v0/state/abi',
    query: { account: 'eosio', block_num: '1e3' },
    status: 400,
    code: 'request_validation_error',
  },
  'a body that is no JSON': {
    path: BIN_TO_JSON,
    post: '{"account":',
    status: 400,
    code: 'invalid_json_error',
    details: { errors: { source: ['The body is not valid JSON'] } },
  },
  'a body that is no object': { path: BIN_TO_JSON, post: '[1]', status: 400, code: 'invalid_json_error' },
  'no body': {
    path: BIN_TO_JSON,
    post: '',
    status: 400,
    code: 'missing_body_error',
    details: { errors: { source: ['The body must be a JSON object'] } },
  },
  'a block above the head': {
    path: '/v0/state/abi',
    query: { account: 'atomicassets', block_num: LAST + 1 },
    status: 400,
    code: 'app_block_num_higher_than_head_block_error',
    details: { request_block_num: LAST + 1, head_block_num: LAST, last_written_block_num: LAST },
  },
  'a negative block number, which counts as a very high one': {
    path: '/v0/state/abi',
    query: { account: 'atomicassets', block_num: -1 },
    status: 400,
    code: 'app_block_num_higher_than_head_block_error',
  },
  'a reversible block with irreversible_only': {
    path: TABLE,
    query: { ...row, block_num: LAST, irreversible_only: 'true' },
    status: 400,
    code: 'app_block_num_higher_than_lib_error',
    details: { request_block_num: LAST, last_written_block_num: LAST - 2 },
  },
  'no ABI': {
    path: '/v0/state/abi',
    query: { account: 'alice', block_num: 900 },
    status: 400,
    code: 'data_abi_not_found_error',
    details: { account: 'alice', block_num: 900 },
  },
  'no ABI yet': {
    path: '/v0/state/abi',
    query: { account: 'atomicassets', block_num: 20 },
    status: 400,
    code: 'data_abi_not_found_error',
    details: { account: 'atomicassets', block_num: 20 },
  },
  'a table that never existed': {
    path: TABLE,
    query: { ...row, table: 'nothing' },
    status: 400,
    code: 'data_table_not_found_error',
    details: { account: 'atomicassets', table: 'nothing', block_num: LAST },
  },
  'a table that did not exist yet': {
    path: '/v0/state/table_scopes',
    query: { account: 'atomicassets', table: 'assets', block_num: 10 },
    status: 400,
    code: 'data_table_not_found_error',
  },
  'a row that does not exist': {
    path: `${TABLE}/row`,
    query: { ...row, primary_key: 'nobody' },
    status: 400,
    code: 'data_row_not_found_error',
    details: { ...row, primary_key: 'nobody', block_num: LAST },
  },
  'a public key that no account has had': {
    path: '/v0/state/key_accounts',
    query: { public_key: keyText('PUB', 0, Buffer.alloc(33, 2)) },
    status: 400,
    code: 'data_public_key_not_found_error',
  },
  'a row that does not fit the ABI': {
    path: BIN_TO_JSON,
    post: JSON.stringify({ account: 'eosio.token', table: 'accounts', hex_rows: ['00e1f505', '00'] }),
    status: 400,
    code: 'data_decoding_table_row_error',
  },
  'a table that the ABI does not contain': {
    path: BIN_TO_JSON,
    post: JSON.stringify({ account: 'eosio.token', table: 'nothing', hex_rows: ['00'] }),
    status: 400,
    code: 'data_table_not_found_error',
  },
  'a time without a block': {
    path: '/v0/block_id/by_time',
    query: { time: '2001-01-01', comparator: 'lte' },
    status: 404,
    code: 'block_time_not_found',
  },
  'a malformed public key': {
    path: `${TABLE}/row`,
    query: { ...row, primary_key: 'not a name!' },
    status: 400,
    code: 'request_validation_error',
    details: { errors: { primary_key: ['The primary_key field must be a primary key of type name'] } },
  },
  'rows that are not stored': {
    path: TABLE,
    query: { ...row, account: 'fakeassets11' },
    status: 400,
    code: 'app_state_not_kept_error',
    details: { account: 'fakeassets11' },
  },
  'a path that does not exist': { path: '/v0/state/nothing', status: 404, code: 'not_found_error' },
  'a method that the path does not support': {
    path: '/v0/state/abi',
    post: '{}',
    status: 405,
    code: 'method_not_allowed_error',
  },
}

describe('failed requests', () => {
  it.each(Object.entries(errorCases))('the service returns the right error for %s', async (_, expected) => {
    const { path, query, post } = expected
    const answer = post === undefined ? await user.get(path, query) : await user.post(path, post)
    expect([answer.status, answer.body.code]).toEqual([expected.status, expected.code])
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-trace-id')).toBe(answer.body.trace_id)
    expect(answer.body).toMatchObject({
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      message: expect.stringMatching(/./) as string,
    })
    if (expected.details !== undefined) expect(answer.body.details).toEqual(expected.details)
    if (expected.code === 'block_time_not_found') {
      expect(answer.body).toEqual({
        code: 'block_time_not_found',
        trace_id: answer.body.trace_id,
        message: 'no results found for query',
      })
    }
  })

  it('an error response contains a 64-bit block number without rounding', async () => {
    const { text } = await user.get('/v0/state/abi', { account: 'eosio', block_num: -1 })
    expect(text).toContain('"request_block_num":18446744073709551615,')
  })

  it('a request before the first block is indexed gets 503', async () => {
    const empty = await createTestDatabase()
    const early = await startService(empty, { chainId: running.chain.chainId, httpUrl: running.httpUrl })
    try {
      const { key: earlyKey } = await makeKey(empty)
      const asked = new StateClient(early.url)
      await asked.login(earlyKey)
      const answer = await asked.get('/v0/state/abi', { account: 'eosio' })
      expect([answer.status, answer.body.code]).toEqual([503, 'app_not_ready_error'])
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await asked.get('/healthz')).toMatchObject({ status: 503, text: 'not ready\n' })
    } finally {
      await early.close()
      await empty.drop()
    }
  })

  it('a request for rows to a server without stored state gets a 4xx error, while ABIs are returned', async () => {
    const other = await createTestDatabase()
    await indexUntil(running, other.address, 30, {
      settings: { contracts: [{ handler: 'oracle', args: { oracle_account: 'delphioracle' } }] },
    })
    const plain = await startService(other, { chainId: running.chain.chainId, httpUrl: running.httpUrl })
    try {
      const { key: otherKey } = await makeKey(other)
      const asked = new StateClient(plain.url)
      await asked.login(otherKey)
      expect((await asked.get('/v0/state/abi', { account: 'atomicassets' })).body).toMatchObject({
        block_num: 21,
      })
      for (const [path, query] of [
        [TABLE, row],
        ['/v0/state/table_scopes', { account: 'atomicassets', table: 'config' }],
        ['/v0/state/permission_links', { account: 'alice' }],
        ['/v0/block_id/by_time', { time: '2026-11-20', comparator: 'gt' }],
      ] as const) {
        const answer = await asked.get(path, query)
        expect([answer.status, answer.body.code]).toEqual([400, 'app_state_not_kept_error'])
      }
    } finally {
      await plain.close()
      await other.drop()
    }
  })
})

describe('browsers and health probes', () => {
  it('pages of every origin may send requests with a token', async () => {
    const preflight = await client().send('/v0/state/abi', {
      method: 'OPTIONS',
      headers: { Origin: 'https://x.example' },
    })
    const shown = ['origin', 'methods'].map((name) => preflight.headers.get(`access-control-allow-${name}`))
    expect([preflight.status, ...shown]).toEqual([204, '*', 'HEAD,GET'])
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization')
    expect((await client().get('/v0/state/abi')).headers.get('access-control-allow-origin')).toBe('*')
  })

  it('/ping, /healthz, the OpenAPI document and its page need no token', async () => {
    expect(await client().get('/ping')).toMatchObject({ status: 200, text: 'pong\n' })
    expect(await client().get('/healthz')).toMatchObject({ status: 200, text: 'ready\n' })
    expect((await client().get('/v0/docs')).text).toContain('/v0/openapi.json')
    expect((await client().get('/')).headers.get('location')).toBe('/v0/docs')
    const { body } = await client().get<{ openapi: string; paths: object }>('/v0/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(body.paths)).toHaveLength(11)
    const check = await new Validator().validate(structuredClone(body))
    expect(check.errors ?? []).toEqual([])
    expect(check.valid).toBe(true)
  })
})

describe('the unmodified client library of the former dfuse service', () => {
  const open = () =>
    createDfuseClient({
      apiKey: key,
      network: service.url.replace('http://', ''),
      secure: false,
      authUrl: service.url,
      apiTokenStore: new InMemoryApiTokenStore(),
      streamClientOptions: {
        socketOptions: { webSocketFactory: () => Promise.reject(new Error('not here')) },
      },
      graphqlStreamClientOptions: {
        socketOptions: { webSocketFactory: () => Promise.reject(new Error('not here')) },
      },
    })

  it('the unmodified client library logs in by itself and makes all of its calls', async () => {
    const library = open()
    try {
      const abi = await library.stateAbi('atomicassets', { blockNum: UPGRADE - 1 })
      expect(abi).toMatchObject({
        block_num: 21,
        account: 'atomicassets',
        abi: { version: 'eosio::abi/1.1' },
      })
      const rows = await library.stateTable<{ balance: string }>('eosio.token', 'alice', 'accounts', {
        keyType: 'symbol_code',
        withBlockNum: true,
        withAbi: true,
      })
      expect(rows).toMatchObject({
        up_to_block_num: LAST,
        last_irreversible_block_num: LAST - 2,
        abi: { version: 'eosio::abi/1.1' },
        rows: [
          {
            key: 'WAX',
            payer: 'alice',
            json: { balance: expect.stringMatching(/^\d+\.\d{8} WAX$/) as string },
          },
        ],
      })
      const one = await library.stateTableRow('eosio.token', 'alice', 'accounts', 'WAX', {
        keyType: 'symbol_code',
        blockNum: LAST,
        withBlockNum: true,
      })
      expect(one.row).toEqual(rows.rows[0])
      const scopes = await library.stateTableScopes('eosio.token', 'accounts')
      expect(scopes.scopes).toEqual(expect.arrayContaining(['alice', 'bob']))
      expect(scopes.scopes).toEqual([...scopes.scopes].sort())
      const byScope = await library.stateTablesForScopes('eosio.token', ['bob', 'alice'], 'accounts', {
        keyType: 'symbol_code',
        withBlockNum: true,
      })
      expect(byScope.tables.map(({ scope }) => scope)).toEqual(['alice', 'bob'])
      expect(byScope.tables[0]!.rows).toEqual(rows.rows)
      const byAccount = await library.stateTablesForAccounts(
        ['karmatoken', 'eosio.token'],
        'alice',
        'accounts',
        {
          keyType: 'symbol_code',
        },
      )
      expect(byAccount.tables.map(({ account, rows }) => ({ account, ...rows[0] }))).toMatchObject([
        { account: 'eosio.token', key: 'WAX' },
        { account: 'karmatoken', key: 'KARMA' },
      ])
      const links = await library.statePermissionLinks('alice')
      expect(links.linked_permissions).toEqual([
        { contract: 'atomicassets', action: 'mintasset', permission_name: 'minter' },
      ])
      const owners = await library.stateKeyAccounts('EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV')
      expect(owners.account_names).toEqual(expect.arrayContaining(['alice', 'eosio']))
      const packed = await library.stateTable('eosio.token', 'alice', 'accounts', { json: false })
      const decoded = await library.stateAbiBinToJson('eosio.token', 'accounts', [packed.rows[0]!.hex!])
      expect(decoded.rows).toEqual([rows.rows[0]!.json])
      const { block } = await library.fetchBlockIdByTime(new Date('2026-11-20T10:00:00Z'), 'gte')
      const again = await library.fetchBlockIdByTime(block.time, 'eq')
      expect(again.block).toEqual(block)
      expect(block.id).toBe(running.chain.block(block.num)!.id.toString('hex'))
    } finally {
      library.release()
    }
  })

  it('the unmodified client library reports the code and trace id of an error', async () => {
    const library = open()
    try {
      await expect(library.stateAbi('nobody')).rejects.toMatchObject({
        code: 'data_abi_not_found_error',
        trace_id: expect.any(String) as string,
      })
    } finally {
      library.release()
    }
  })
})
