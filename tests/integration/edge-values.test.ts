import { afterEach, beforeEach, expect, it } from 'vitest'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { packAbi } from '../../services/core/antelope/abi/index.ts'
import { bytesToHex } from '../../services/core/bytes/index.ts'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { compileProtocol } from '../../services/filler/decode/index.ts'
import { createHandler } from '../../services/filler/handlers/index.ts'
import { BlockApplier } from '../../services/filler/pipeline/block-applier.ts'
import { CommitUnit, openStore } from '../../services/filler/store/index.ts'
import type { ShipBlock } from '../../services/filler/ship/index.ts'
import { fill } from '../decode/fill.ts'
import { readAbi } from '../decode/recordings.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

const ship = compileAbi(readAbi('ship.leap'))
const assets = compileAbi(readAbi('assets.v2'))
const args = { assets_account: 'atomicassets', store_transfers: true, store_logs: true }

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

async function queryRows<T extends object>(text: string): Promise<T[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  try {
    return (await client.query<T>(text)).rows
  } finally {
    await client.end()
  }
}

/** Indexes a block with log actions of the assets contract, with all query indexes in place. */
async function index(actions: readonly (readonly [name: string, value: object])[]): Promise<void> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await buildQueryIndexes(client, 'assets')
  await client.end()
  const entry = { handler: 'assets', args }
  const handler = createHandler(entry, [entry])!
  const logger = createLogger({ name: 'test', level: 'silent' })
  const applier = new BlockApplier('test', [handler], [], logger)
  applier.useProtocol(compileProtocol(ship.definition))
  await applier.reload(() => Promise.resolve([]), 0, 0)
  applier.assumeAbi('atomicassets', packAbi(assets.definition))
  const traces = ship.encoder('transaction_trace[]')(
    fill(ship.types.resolve('transaction_trace[]'), [
      {
        action_traces: actions.map(([name, value], i) => ({
          action_ordinal: i + 1,
          receipt: { receiver: 'atomicassets', global_sequence: 5n + BigInt(i) },
          receiver: 'atomicassets',
          act: {
            account: 'atomicassets',
            name,
            authorization: [{ actor: 'atomicassets', permission: 'active' }],
            data: assets.encoder(name)(value),
          },
        })),
      },
    ]),
  )
  const position = { num: 7, id: new Uint8Array(32) }
  const block: ShipBlock = {
    ...{ node: 'ws://node/', bytes: 0, num: 7, id: bytesToHex(position.id), idBytes: position.id },
    ...{ prevId: null, prevIdBytes: null, head: position, lib: position, header: null, traces, deltas: null },
  }
  const unit = new CommitUnit(false)
  const { timeMs } = applier.apply(block, unit)
  unit.closeBlock({ num: 7, id: position.id, timeMs })
  const { tables, derived = [] } = handler
  const store = await openStore({ address: database.address, reader: 'test', startBlock: 1, tables, derived })
  await store.commit(unit, 7).finally(() => store.close())
}

const noise = (length: number) =>
  Array.from({ length }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000))).join('')

it('extreme numbers, long memos and long names are stored unchanged', async () => {
  const [memo, name] = [noise(100_000), noise(60_000)]
  const assetId = 2n ** 63n - 1n
  const largest = 2n ** 64n - 1n
  const pair = (key: string, type: string, value: unknown) => ({ key, value: [type, value] })
  const mint = {
    asset_id: assetId,
    authorized_minter: 'alice',
    collection_name: 'cards',
    schema_name: 'cards',
    template_id: -1,
    new_asset_owner: 'alice',
    immutable_data: [pair('name', 'string', name), pair('u', 'uint64', largest)],
    mutable_data: [pair('list', 'UINT64_VEC', [largest, 0n]), pair('i', 'int64', -(2n ** 63n))],
    backed_tokens: [],
    immutable_template_data: [],
  }
  await index([
    ['logmint', mint],
    ['logbackasset', { asset_owner: 'alice', asset_id: assetId, backed_token: '46116860184.27387903 WAX' }],
    ['logtransfer', { collection_name: 'cards', from: 'alice', to: 'bob', asset_ids: [assetId], memo }],
  ])
  const [asset] = await queryRows('SELECT asset_id, owner, immutable_data, mutable_data FROM assets.assets')
  expect(asset).toEqual({
    asset_id: assetId,
    owner: 'bob',
    immutable_data: { name, u: String(largest) },
    mutable_data: { list: [String(largest), '0'], i: String(-(2n ** 63n)) },
  })
  expect(await queryRows('SELECT amount FROM assets.backed_tokens')).toEqual([{ amount: 2n ** 62n - 1n }])
  expect(await queryRows('SELECT memo, asset_ids FROM assets.transfers')).toEqual([
    { memo, asset_ids: [String(assetId)] },
  ])
})

it('the public key of a link is stored and found even if it is too long for the index', async () => {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await buildQueryIndexes(client, 'tools')
  await client.query(`INSERT INTO tools.links (link_id, created_at_time, updated_at_time, created_at_block, updated_at_block,
      state, has_unknown_assets, creator, public_key, memo, asset_ids, collection_names)
    SELECT 1, 1, 1, 1, 1, 0, false, 'alice', 'PUB_WA_' || string_agg(md5(n::text), ''), '', '{1}', '{col}'
      FROM generate_series(1, 1000) n`)
  const key = `SELECT public_key FROM tools.links WHERE link_id = 1`
  const { rows } = await client.query(`SELECT link_id FROM tools.links WHERE public_key = (${key})`)
  expect(rows).toEqual([{ link_id: 1n }])
  await client.end()
})
