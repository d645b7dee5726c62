import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RunningState } from '../../services/state/index.ts'
import { readRecording } from '../decode/recordings.ts'
import type { Recording } from '../decode/recordings.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readDeltas, replay } from './delta-replay.ts'
import type { ReplayedState } from './delta-replay.ts'
import { makeKey, startService, StateClient } from './service.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'

/** Number of random blocks at which the stored rows are compared. */
const BLOCKS = rounds(8, 20)

const fixtures = join(import.meta.dirname, '../fixtures/recordings')
const stored = ['atomicassets', 'atomicmarket', 'delphioracle', 'eosio.token', 'fakeassets11', 'karmatoken']

let database: TestDatabase
let running: TestChain
let service: RunningState | null = null

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(async () => {
  await service?.close()
  service = null
  await running.chain.stop()
  await database.drop()
})

/** Indexes up to a block and starts the service; returns a client that is logged in. */
async function serve(lastBlock: number, historyBlocks: number): Promise<StateClient> {
  const args = { accounts: stored, permissions: true, history_blocks: historyBlocks }
  await indexUntil(running, database.address, lastBlock, {
    settings: { contracts: [{ handler: 'state', args }] },
  })
  service = await startService(database, { chainId: running.chain.chainId, httpUrl: running.httpUrl })
  const client = new StateClient(service.url)
  await client.login((await makeKey(database)).key)
  return client
}

interface Row {
  key: string
  payer: string
  hex?: string
  json?: unknown
  block?: number
}

/** Compares every stored table in every scope that it ever had with the replayed deltas. */
async function expectState(client: StateClient, block: number, state: ReplayedState): Promise<number> {
  let compared = 0
  for (const [name, rows] of state.tables) {
    const [account, table, scope] = name.split('/') as [string, string, string]
    const { status, body } = await client.get<{ rows: Row[] }>('/v0/state/table', {
      account,
      table,
      scope,
      block_num: block,
      key_type: 'uint64',
      with_block_num: true,
    })
    expect([name, block, status]).toEqual([name, block, 200])
    const expected = [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
    expect({ name, block, rows: body.rows }).toEqual({
      name,
      block,
      rows: expected.map(([key, row]) => ({
        key: key.toString(),
        payer: row.payer,
        hex: row.value,
        block: row.block,
      })),
    })
    compared += expected.length
  }
  return compared
}

/** Compares the lists of scopes, permission links and keys with the replayed deltas. */
async function expectIndexes(client: StateClient, block: number, state: ReplayedState): Promise<void> {
  const scopes = new Map<string, string[]>()
  for (const [name, rows] of state.tables) {
    const [account, table, scope] = name.split('/') as [string, string, string]
    const found = scopes.get(`${account}/${table}`) ?? []
    scopes.set(`${account}/${table}`, rows.size > 0 ? [...found, scope] : found)
  }
  for (const [name, expected] of scopes) {
    const [account, table] = name.split('/') as [string, string]
    const { body } = await client.get('/v0/state/table_scopes', { account, table, block_num: block })
    expect({ name, ...body }).toEqual({ name, block_num: block, scopes: expected.sort() })
  }
  for (const account of new Set([...state.links.keys()].map((link) => link.split('/')[0]!))) {
    const { body } = await client.get('/v0/state/permission_links', { account, block_num: block })
    const expected = [...state.links]
      .map(([link, permission_name]) => [...link.split('/'), permission_name])
      .filter(([owner]) => owner === account)
      .map(([, contract, action, permission_name]) => ({ contract, action, permission_name }))
    expect(body.linked_permissions).toEqual(expected)
  }
  const holders = new Map<string, Set<string>>()
  for (const [name, keys] of state.permissions) {
    for (const key of keys) holders.set(key, (holders.get(key) ?? new Set()).add(name.split('/')[0]!))
  }
  for (const [key, accounts] of [...holders].slice(0, 5)) {
    const { body } = await client.get('/v0/state/key_accounts', { public_key: key, block_num: block })
    expect(body).toEqual({ block_num: block, account_names: [...accounts].sort() })
  }
}

function pickBlocks(count: number, first: number, last: number, seed: number): Set<number> {
  const random = createRandom(seed)
  const picked = new Set([last])
  while (picked.size < count) picked.add(random.between(first, last))
  return picked
}

async function expectReplay(
  client: StateClient,
  recordings: readonly Recording[],
  blocks: ReadonlySet<number>,
): Promise<void> {
  const states = replay(recordings.flatMap(readDeltas), new Set(stored), blocks)
  expect(states.size).toBe(blocks.size)
  let compared = 0
  for (const [block, state] of states) {
    compared += await expectState(client, block, state)
    await expectIndexes(client, block, state)
  }
  expect(compared).toBeGreaterThan(blocks.size * 20)
}

it(
  `the stored rows of every table at ${BLOCKS} random blocks equal a replay of the recorded deltas`,
  async () => {
    running = await startChain({ recordings: ['main', 'v2'] })
    const client = await serve(964, 0)
    const blocks = pickBlocks(BLOCKS, 25, 964, 6)
    await expectReplay(client, [readRecording('main'), readRecording('v2')], blocks)
    await expectChainTables(client)
  },
  patient(60_000),
)

/** Compares the decoded rows at the last block with the tables that the recorded chain node printed. */
async function expectChainTables(client: StateClient): Promise<void> {
  for (const name of [
    'atomicassets.config',
    'atomicassets.offers',
    'atomicmarket.sales',
    'eosio.token.accounts',
  ]) {
    const at = name.lastIndexOf('.')
    const file = join(fixtures, 'v2/tables', `${name}.json`)
    const expected = JSON.parse(readFileSync(file, 'utf8')) as Record<
      string,
      { rows: { data: object; payer: string }[] }
    >
    for (const [scope, { rows }] of Object.entries(expected)) {
      const { body } = await client.get<{ rows: Row[] }>('/v0/state/table', {
        account: name.slice(0, at),
        table: name.slice(at + 1),
        scope,
        json: true,
      })
      const found = body.rows.map(({ json, payer }) => ({ data: json, payer }))
      const printed = rows.map(({ data, payer }) => ({ data: asPrinted(data), payer }))
      expect({ name, scope, rows: found }).toEqual({ name, scope, rows: printed })
    }
  }
}

/** Converts fees of the node's output to numbers: the node prints floating-point numbers as text. */
function asPrinted(data: object): object {
  const fields = Object.entries(data).map(([name, value]: [string, unknown]) => [
    name,
    name.endsWith('_fee') ? Number(value) : value,
  ])
  return Object.fromEntries(fields) as object
}

it(
  'after forks, the stored rows at each block equal a replay of the remaining blocks',
  async () => {
    running = await startChain({ recordings: [join(fixtures, 'fork')], replay: 'recorded' })
    const client = await serve(403, 0)
    const blocks = pickBlocks(BLOCKS, 30, 403, 9)
    for (const rewound of [159, 160, 161, 206, 249, 250, 265]) blocks.add(rewound)
    await expectReplay(client, [readRecording('fork')], blocks)
  },
  patient(60_000),
)

it(
  'a state service that keeps a short history gives the same answers as a service with all blocks, and refuses earlier blocks with the number of the first known block',
  async () => {
    running = await startChain({ recordings: ['main', 'v2'], replay: 'recorded' })
    const client = await serve(964, 200)
    const refused = await client.get<{ code: string; details: { first_block_num: number } }>(
      '/v0/state/table',
      {
        account: 'atomicassets',
        table: 'assets',
        scope: 'alice',
        block_num: 100,
      },
    )
    expect([refused.status, refused.body.code]).toEqual([400, 'app_block_num_lower_than_first_block_error'])
    const first = refused.body.details.first_block_num
    expect(refused.body.details).toEqual({
      request_block_num: 100,
      first_block_num: first,
      head_block_num: 964,
    })
    // The service deletes history in steps of an eighth of the configured length, so up to nine eighths of this length
    // remain.
    expect(964 - first).toBeGreaterThanOrEqual(200)
    expect(964 - first).toBeLessThanOrEqual(230)
    const blocks = pickBlocks(6, first, 964, 3).add(first)
    await expectReplay(client, [readRecording('main'), readRecording('v2')], blocks)
  },
  patient(60_000),
)

it(
  'the state service returns rows in pages, and finds a row by its key in every key_type',
  async () => {
    running = await startChain({ recordings: ['main'] })
    const client = await serve(846, 0)
    const all = { account: 'atomicassets', table: 'assets', scope: 'alice', key_type: 'uint64' }
    const whole = (await client.get<{ rows: Row[] }>('/v0/state/table', all)).body.rows
    expect(whole.length).toBeGreaterThan(50)
    const pages: Row[] = []
    for (let offset = 0; offset < whole.length + 20; offset += 20) {
      const { body } = await client.get<{ rows: Row[] }>('/v0/state/table', { ...all, limit: 20, offset })
      pages.push(...body.rows)
    }
    expect(pages).toEqual(whole)
    const one = whole[7]!
    const number = BigInt(one.key)
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(number)
    const spellings = {
      uint64: one.key,
      hex: bytes.toString('hex'),
      hex_be: number.toString(16).padStart(16, '0'),
    }
    for (const [key_type, primary_key] of Object.entries(spellings)) {
      const { body } = await client.get('/v0/state/table/row', { ...all, key_type, primary_key })
      expect(body.row).toEqual({ ...one, key: primary_key })
      const page = await client.get<{ rows: Row[] }>('/v0/state/table', {
        ...all,
        key_type,
        key: primary_key,
      })
      expect(page.body.rows).toEqual([{ ...one, key: primary_key }])
    }
    const stat = await client.get<{ rows: Row[] }>('/v0/state/table', {
      account: 'eosio.token',
      table: 'stat',
      scope: 'WAX',
      key_type: 'symbol_code',
    })
    expect(stat.body.rows.map(({ key }) => key)).toEqual(['WAX'])
  },
  patient(60_000),
)
