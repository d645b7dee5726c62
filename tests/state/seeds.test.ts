import { chainTables } from '../../services/core/model/tables/index.ts'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommitUnit } from '../../services/filler/store/commit-unit.ts'
import { listTables } from '../../services/core/model/table.ts'
import { openStore } from '../../services/filler/store/store.ts'
import type { Store } from '../../services/filler/store/store.ts'
import type { RunningState } from '../../services/state/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { makeKey, startService, StateClient } from './service.ts'
import { patient } from '../setup/patience.ts'

const START = 1_000

let database: TestDatabase
let store: Store
let node: Server
let service: RunningState
let client: StateClient
/** Head block number that the simulated chain node reports. */
let nodeHead = START
/** Id of the node's head if the node is on another branch than the reader; else null. */
let nodeFork: Buffer | null = null
let nodeAbis: Record<string, string>
let asked: string[]
let isNodeAway = false

beforeEach(async () => {
  database = await createTestDatabase()
  store = await openStore({
    address: database.address,
    reader: 'r',
    startBlock: START,
    tables: listTables(chainTables),
  })
  nodeAbis = { 'eosio.token': '0e', oldtimer: 'aa' }
  asked = []
  isNodeAway = false
  nodeFork = null
  node = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (isNodeAway) return response.destroy()
      if (request.url === '/v1/chain/get_raw_abi') {
        const { account_name: account } = JSON.parse(body) as { account_name: string }
        asked.push(account)
        const abi = Buffer.from(nodeAbis[account] ?? '', 'hex').toString('base64')
        return response.end(JSON.stringify({ account_name: account, abi }))
      }
      const info = {
        chain_id: 'ab'.repeat(32),
        head_block_num: nodeHead,
        head_block_id: (nodeFork ?? idOf(nodeHead)).toString('hex'),
        head_block_time: '2026-11-20T10:00:00.500',
      }
      return response.end(JSON.stringify(info))
    })
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  const httpUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  await commit(START, true)
  service = await startService(database, { chainId: 'ab'.repeat(32), httpUrl })
  client = new StateClient(service.url)
  await client.login((await makeKey(database)).key)
})

afterEach(async () => {
  await service.close()
  node.closeAllConnections()
  node.close()
  await store.close()
  await database.drop()
})

function idOf(num: number): Buffer {
  return Buffer.alloc(32, num % 251)
}

/** Commits a block that sets ABIs, as the reader would. */
async function commit(num: number, irreversible: boolean, abis: Record<string, string> = {}): Promise<void> {
  const unit = new CommitUnit(!irreversible)
  for (const [account, hex] of Object.entries(abis))
    unit.upsert(chainTables.abis, { account, block_num: num, reader: 'r', abi: Buffer.from(hex, 'hex') })
  unit.closeBlock({ num, id: idOf(num), timeMs: num * 500 })
  await store.commit(unit, irreversible ? num : START)
  nodeHead = num
}

const ask = (account: string, block_num = 0) => client.get('/v0/state/abi', { account, block_num })

it('an ABI older than the first indexed block is read from the chain node, and marked as such', async () => {
  for (const block of [0, START]) {
    expect((await ask('eosio.token', block)).body).toEqual({
      block_num: START,
      account: 'eosio.token',
      abi: '0e',
      in_force: 'at_or_before',
    })
  }
  expect(asked).toEqual(['eosio.token'])
  expect((await ask('nobody')).body.code).toBe('data_abi_not_found_error')
  const before = await ask('eosio.token', START - 1)
  expect(before.body).toMatchObject({
    code: 'app_block_num_lower_than_first_block_error',
    details: { request_block_num: START - 1, first_block_num: START, head_block_num: START },
  })
  // The ABI of eosio.token at block START stays known after a later block sets another ABI of this account.
  await commit(START + 1, true, { 'eosio.token': '0f' })
  await expect
    .poll(async () => (await ask('eosio.token')).body)
    .toEqual({
      block_num: START + 1,
      account: 'eosio.token',
      abi: '0f',
    })
  expect((await ask('eosio.token', START)).body).toMatchObject({ abi: '0e', in_force: 'at_or_before' })
  // The earlier ABI of `oldtimer` was never requested, so it is unknown once block START + 2 sets another ABI.
  await commit(START + 2, true, { oldtimer: 'bb' })
  nodeAbis.oldtimer = 'bb'
  await expect.poll(async () => (await ask('oldtimer')).body.abi).toBe('bb')
  expect((await ask('oldtimer', START)).body.code).toBe('data_abi_not_found_error')
})

it(
  "an ABI read from the node is used only once the reader has reached the node's head block",
  async () => {
    nodeHead = START + 1
    nodeAbis.oldtimer = 'bb'
    const answering = ask('oldtimer', START)
    // The reader commits the block that set the node's ABI while the request waits.
    await expect.poll(() => asked).toEqual(['oldtimer'])
    await commit(START + 1, true, { oldtimer: 'bb' })
    expect((await answering).body.code).toBe('data_abi_not_found_error')
    nodeHead = START + 100
    const late = await ask('eosio.token')
    expect([late.status, late.body.code]).toEqual([503, 'app_not_ready_error'])
  },
  patient(20_000),
)

it('an ABI of a node on another branch than the reader is not used', async () => {
  await commit(START + 1, false)
  // The node is on another branch than the reader. A block of the node's branch has set the ABI `bb`.
  nodeFork = Buffer.alloc(32, 255)
  nodeAbis.oldtimer = 'bb'
  const forked = await ask('oldtimer', START)
  expect([forked.status, forked.body.code]).toEqual([503, 'app_not_ready_error'])
  nodeFork = null
  nodeAbis.oldtimer = 'aa'
  expect((await ask('oldtimer', START)).body).toMatchObject({ abi: 'aa', in_force: 'at_or_before' })
})

it('while the node is unavailable, stored ABIs are returned, and requests for an ABI that only the node has get 503', async () => {
  await commit(START + 1, true, { known: '0a' })
  isNodeAway = true
  await expect.poll(async () => (await ask('known')).status).toBe(200)
  const unknown = await ask('eosio.token')
  expect([unknown.status, unknown.body.code]).toEqual([503, 'app_not_ready_error'])
})

it('an ABI of a reversible block is returned at once, and removed when the chain forks', async () => {
  await commit(START + 1, false, { forked: '0a' })
  await commit(START + 2, false, { forked: '0b' })
  await expect.poll(async () => (await ask('forked')).body.abi).toBe('0b')
  expect((await ask('forked', START + 1)).body).toMatchObject({ block_num: START + 1, abi: '0a' })
  await store.rollBackTo(START + 2)
  await expect.poll(async () => (await ask('forked')).body.abi).toBe('0a')
  expect((await ask('forked', START + 2)).body.code).toBe('app_block_num_higher_than_head_block_error')
  await commit(START + 2, false, { forked: '' })
  await expect.poll(async () => (await ask('forked')).body.code).toBe('data_abi_not_found_error')
  expect((await ask('forked', START + 1)).body).toMatchObject({ block_num: START + 1, abi: '0a' })
  // The cached position of the service is older than block START + 3. A request for block START + 3 makes the service
  // read the position at once.
  await commit(START + 3, false, { forked: '0c' })
  expect((await ask('forked', START + 3)).body).toEqual({
    block_num: START + 3,
    account: 'forked',
    abi: '0c',
  })
})
