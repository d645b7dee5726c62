import { afterEach, beforeEach, expect, it } from 'vitest'
import { packAbi } from '../../services/core/antelope/abi/index.ts'
import type { AbiDefinition, AbiStruct } from '../../services/core/antelope/abi/index.ts'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import type { RunningState } from '../../services/state/index.ts'
import { readAbi } from '../decode/recordings.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readMetrics } from '../setup/metrics.ts'
import { makeKey, startService, StateClient } from './service.ts'

const CHAIN_ID = '1064487b3cd1a897ce03ae5b6a865651747e2e152090f99c1d19d44e01aea5a4'
const assets = readAbi('assets.v2')

/** Returns the ABI of the assets contract with changed fields of the struct `balances_s`. */
function withBalances(change: (fields: AbiStruct['fields']) => AbiStruct['fields']): AbiDefinition {
  const structs = assets.structs.map((struct) =>
    struct.name === 'balances_s' ? { ...struct, fields: change(struct.fields) } : struct,
  )
  return { ...assets, structs }
}

const pack = (abi: AbiDefinition, row: object): Buffer =>
  Buffer.from(compileAbi(abi).encoder('balances_s')(row))

const upgraded = withBalances(([owner, list]) => [owner!, { name: 'added', type: 'uint8' }, list!])
const nameless: AbiDefinition = { ...assets, tables: assets.tables.filter(({ name }) => name !== 'balances') }
const old = { owner: 'alice', quantities: ['1.00000000 WAX', '2.0000 KARMA'] }
const fresh = { owner: 'bob', added: 7, quantities: ['3.00000000 WAX'] }
const misfit = Buffer.from('ff', 'hex')
const values = [pack(assets, old), pack(upgraded, fresh), misfit]

let database: TestDatabase
let service: RunningState
let client: StateClient
let metricsPort: number
const lines: string[] = []

beforeEach(async () => {
  lines.length = 0
  database = await createTestDatabase()
  const admin = await connectDatabase(database.address, { applicationName: 'test' })
  await admin.query(
    `INSERT INTO chain.readers VALUES ('r', 1, 20, 0, '\\x0a');
     INSERT INTO chain.reversible_blocks VALUES ('r', 20, null, 0, '\\x0a');
     INSERT INTO state.coverage (reader, accounts, permissions, since_block, history_from)
       VALUES ('r', '{atomicassets}', false, 1, 1);
     INSERT INTO state.tables (account, table_name, since_block, reader) VALUES ('atomicassets', 'balances', 3, 'r')`,
  )
  for (const [block, abi] of [
    [2, packAbi(assets)],
    [4, Buffer.from('no ABI at all')],
    [5, packAbi(upgraded)],
    [15, packAbi(nameless)],
  ] as const)
    await admin.query(
      "INSERT INTO chain.abis (account, block_num, reader, abi) VALUES ('atomicassets', $1, 'r', $2)",
      [block, abi],
    )
  for (const [key, value] of values.entries())
    await admin.query(
      `INSERT INTO state.rows (account, table_name, scope, primary_key, since_block, payer, value)
       VALUES ('atomicassets', 'balances', 'atomicassets', $1, 3, 'alice', $2)`,
      [key, value],
    )
  await admin.end()
  metricsPort = await findFreePort()
  service = await startService(
    database,
    { chainId: CHAIN_ID, httpUrl: 'http://127.0.0.1:1' },
    { metricsPort },
    { logger: createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } }) },
  )
  client = new StateClient(service.url)
  await client.login((await makeKey(database)).key)
})

afterEach(async () => {
  await service.close()
  await database.drop()
})

async function rowsAt(block: number) {
  const { status, body } = await client.get<{ rows: object[] }>('/v0/state/table', {
    account: 'atomicassets',
    table: 'balances',
    scope: 'atomicassets',
    block_num: block,
    json: true,
  })
  expect(status).toBe(200)
  return body.rows
}

const undecoded = (reason: RegExp) => ({ hex: 'ff', error: expect.stringMatching(reason) as string })

it('a row is decoded with the ABI that uses all of its bytes; a row that fits no ABI is counted and logged once', async () => {
  const expected = [{ json: old }, { json: fresh }, undecoded(/^ABI from block 5, row struct/)]
  expect(await rowsAt(10)).toMatchObject(expected)
  expect(await rowsAt(10)).toMatchObject(expected)
  const logged = lines.filter((line) => line.includes('fits no ABI'))
  expect(logged).toHaveLength(1)
  expect(JSON.parse(logged[0]!)).toMatchObject({
    contract: 'atomicassets',
    table: 'balances',
    cause: expect.stringContaining('ABI from block 5') as string,
  })
  const metrics = await readMetrics(await fetch(`http://127.0.0.1:${metricsPort}/metrics`))
  expect(metrics.get('pronghorn_state_undecodable_rows_total{contract="atomicassets"}')).toBe(2)
})

it('a row of a table that the current ABI lacks is decoded by an older ABI', async () => {
  expect(await rowsAt(16)).toMatchObject([
    { json: old },
    { json: fresh },
    undecoded(/^ABI from block 15, err: it has no table "balances"/),
  ])
})

it('rows sent in a request are decoded with the ABIs of stored rows; the metric of undecodable rows counts only stored rows', async () => {
  const decode = (rows: readonly Buffer[]) =>
    client.post<{ rows?: unknown; code?: string }>(
      '/v0/state/abi/bin_to_json',
      JSON.stringify({
        account: 'atomicassets',
        table: 'balances',
        block_num: 10,
        hex_rows: rows.map((row) => row.toString('hex')),
      }),
    )
  expect((await decode(values.slice(0, 2))).body.rows).toEqual([old, fresh])
  expect((await decode([misfit])).body.code).toBe('data_decoding_table_row_error')
  const metrics = await readMetrics(await fetch(`http://127.0.0.1:${metricsPort}/metrics`))
  expect(metrics.get('pronghorn_state_undecodable_rows_total{contract="atomicassets"}')).toBeUndefined()
})
