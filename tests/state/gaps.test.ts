import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ReaderStatus } from '../../services/filler/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import type { RunningState } from '../../services/state/index.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { makeKey, startService, StateClient } from './service.ts'

const args = { accounts: ['eosio.token'], permissions: true, history_blocks: 0 }
const settings = { contracts: [{ handler: 'state', args }] }

let database: TestDatabase
let running: TestChain
let service: RunningState | null = null
const statuses: ReaderStatus[] = []
const lines: string[] = []
const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } })

beforeEach(async () => {
  database = await createTestDatabase()
  running = await startChain({ recordings: ['main'] })
})
afterEach(async () => {
  await service?.close()
  service = null
  await running.chain.stop()
  await database.drop()
})

function index(stopBlock: number, more: object = {}): Promise<void> {
  return indexUntil(running, database.address, stopBlock, {
    settings: { ...settings, ...more },
    options: { logger, onStatus: (status) => statuses.push(status) },
  })
}

async function recordedGaps(): Promise<string[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const { rows } = await client.query<{ gap: string }>(
    "SELECT first_block || '-' || last_block AS gap FROM chain.gaps ORDER BY first_block",
  )
  await client.end()
  return rows.map(({ gap }) => gap)
}

it('blocks that a raised start_block skips are recorded, logged at every start, and refused in requests', async () => {
  await index(100)
  expect(await recordedGaps()).toEqual([])
  await index(300, { start_block: 201 })
  expect(await recordedGaps()).toEqual(['101-200'])
  // A start with unchanged settings logs the gap again and records no new gap.
  await index(320)
  expect(await recordedGaps()).toEqual(['101-200'])
  const logged = lines.filter((line) => line.includes('missing from the database'))
  expect(logged).toHaveLength(2)
  for (const line of logged) expect(JSON.parse(line)).toMatchObject({ first_block: 101, last_block: 200 })
  expect(statuses.at(-1)?.gaps).toEqual([{ first: 101, last: 200 }])

  service = await startService(database, { chainId: running.chain.chainId, httpUrl: running.httpUrl })
  const client = new StateClient(service.url)
  await client.login((await makeKey(database)).key)
  const ask = async (block: number) => {
    const abi = await client.get('/v0/state/abi', { account: 'eosio.token', block_num: block })
    const rows = await client.get('/v0/state/table', {
      account: 'eosio.token',
      table: 'stat',
      scope: 'WAX',
      block_num: block,
    })
    return [abi, rows]
  }
  for (const block of [101, 150, 200]) {
    for (const { status, body } of await ask(block)) {
      expect([block, status, body.code]).toEqual([block, 400, 'app_block_num_not_indexed_error'])
      expect(body.message).toContain("blocks '101' to '200' are missing")
      expect(body.details).toEqual({ first_missing_block_num: 101, last_missing_block_num: 200 })
    }
  }
  for (const block of [100, 201]) {
    for (const { body } of await ask(block)) expect(body.code).not.toBe('app_block_num_not_indexed_error')
  }
  const client2 = await connectDatabase(database.address, { applicationName: 'test' })
  const { rows } = await client2.query<{ num: number; time: bigint }>(
    'SELECT block_num AS num, block_time AS time FROM state.blocks WHERE block_num IN (100, 201) ORDER BY 1',
  )
  await client2.end()
  const [before, after] = rows.map(({ time }) => Number(time))
  const byTime = (time: number, comparator: string) =>
    client.get<{ code?: string; block?: { num: number } }>('/v0/block_id/by_time', { time, comparator })
  for (const [time, comparator] of [
    [before! + 500, 'gte'],
    [after! - 500, 'lt'],
    [before!, 'gt'],
  ] as const) {
    expect((await byTime(time, comparator)).body.code).toBe('app_block_num_not_indexed_error')
  }
  expect((await byTime(before!, 'lte')).body.block?.num).toBe(100)
  expect((await byTime(after!, 'gte')).body.block?.num).toBe(201)
})

it('if a gap may hide a new ABI, the state service finds no ABI for blocks before the gap, and marks the ABI after the gap as at_or_before', async () => {
  await index(800, { start_block: 400 })
  const head = running.chain.head().num
  await index(head, { start_block: 821 })
  service = await startService(database, { chainId: running.chain.chainId, httpUrl: running.httpUrl })
  const client = new StateClient(service.url)
  await client.login((await makeKey(database)).key)
  const ask = (block_num: number) => client.get('/v0/state/abi', { account: 'atomicmarket', block_num })
  for (const block of [400, 800]) expect((await ask(block)).body.code).toBe('data_abi_not_found_error')
  for (const block of [821, head])
    expect((await ask(block)).body).toMatchObject({ block_num: 821, in_force: 'at_or_before' })
})

it("a recorded gap is removed if its blocks are indexed after all, or if the reader's data are deleted", async () => {
  await index(100)
  await index(100, { start_block: 401 })
  expect(await recordedGaps()).toEqual(['101-400'])
  await index(110)
  expect(await recordedGaps()).toEqual([])
  await index(300, { start_block: 201 })
  expect(await recordedGaps()).toEqual(['111-200'])
  await index(50, { delete_data: true })
  expect(await recordedGaps()).toEqual([])
})

it('a reader whose data is deleted begins at its current start_block', async () => {
  await index(100, { start_block: 50 })
  await index(60, { start_block: 10, delete_data: true })
  await index(70, { start_block: 10 })
  service = await startService(database, { chainId: running.chain.chainId, httpUrl: running.httpUrl })
  const client = new StateClient(service.url)
  await client.login((await makeKey(database)).key)
  const { body } = await client.get('/v0/state/abi', { account: 'eosio.token', block_num: 9 })
  expect(body).toMatchObject({
    code: 'app_block_num_lower_than_first_block_error',
    details: { first_block_num: 10 },
  })
})
