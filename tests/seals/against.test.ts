import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { compareWith, remoteSource } from '../../services/core/seals/compare/index.ts'
import { sealedKinds } from '../../services/core/seals/index.ts'
import { apiConfig, quiet } from '../api/server.ts'
import { testSettings } from '../integration/index-chain.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { sealDatabase } from '../setup/seals.ts'
import { broadChain } from '../verify/verify-of.ts'

const SEALED_BLOCKS = 100

let ours: TestDatabase
let theirs: TestDatabase
let api: RunningApi
let client: pg.Client
let chainId: string

beforeAll(async () => {
  ours = await createIndexedDatabase(broadChain)
  theirs = await createIndexedDatabase(broadChain)
  for (const { address } of [ours, theirs]) await sealDatabase(address, testSettings.name, SEALED_BLOCKS)
  client = await connectDatabase(ours.address, { applicationName: 'against' })
  const { rows } = await client.query<{ chain_id: string }>('SELECT chain_id FROM chain.identity')
  chainId = rows[0]!.chain_id
  api = await startApi({ config: apiConfig(theirs.address), logger: quiet })
})

afterAll(async () => {
  await api.close()
  await client.end()
  await ours.drop()
  await theirs.drop()
})

const compare = () => compareWith(client, remoteSource(api.url, chainId, new AbortController().signal))

it('two databases of one chain have the same seals', async () => {
  const compared = await compare()
  expect(compared).toMatchObject({ onlyOurs: [], onlyTheirs: [], differing: [], rows: [] })
  expect(compared.kinds.length).toBe(sealedKinds.length)
  expect(compared.ranges).toBeGreaterThan(sealedKinds.length)
})

it.each([
  [
    'assets.transfers',
    "UPDATE assets.transfers SET memo = memo || '!' WHERE transfer_id = (SELECT min(transfer_id) FROM assets.transfers)",
    ['ours', 'theirs'],
  ],
  ['assets.logs', 'DELETE FROM assets.logs WHERE seq = (SELECT min(seq) FROM assets.logs)', ['theirs']],
  [
    'assets.burns',
    'UPDATE assets.assets SET burned_by_account = NULL WHERE asset_id = (SELECT min(asset_id) FROM assets.assets WHERE burned_at_block < 400)',
    ['ours', 'theirs'],
  ],
  [
    'market.sales',
    'UPDATE market.sales SET price = price + 1 WHERE sale_id = (SELECT min(sale_id) FROM market.sales WHERE state = 3)',
    ['ours', 'theirs'],
  ],
  [
    'market.trades',
    'DELETE FROM market.trades WHERE (kind, listing_id) = (SELECT kind, listing_id FROM market.trades WHERE kind = 1 ORDER BY listing_id LIMIT 1)',
    ['theirs'],
  ],
])(
  'the comparison with another node shows both versions of a differing row of %s',
  async (kind, statement, sides) => {
    // Each test adds one difference to the differences of the previous tests. Kinds of row do not affect each other.
    expect((await client.query(statement)).rowCount).toBe(1)
    const compared = await compare()
    expect(compared.differing.filter((range) => range.kind === kind).length).toBe(1)
    const rows = compared.rows.filter((row) => row.kind === kind)
    expect(rows.map(({ side }) => side)).toEqual(sides)
    expect(Object.keys(rows[0]!.row)).toEqual(sealedKinds.find(({ name }) => name === kind)!.columns)
  },
)

it('GET /seals is cached, refuses unknown parameters, and can be disabled', async () => {
  const answer = await fetch(`${api.url}/seals`)
  expect(answer.headers.get('cache-control')).toBe('public, max-age=60')
  expect(await answer.json()).toMatchObject({ success: true, data: { chain_id: chainId } })
  for (const path of [
    '/seals/ranges',
    '/seals/ranges?kind=assets.assets',
    '/seals/rows?kind=assets.logs&from=x',
    '/seals/rows?kind=assets.logs&from=9&to=1',
  ])
    expect((await fetch(api.url + path)).status, path).toBe(400)
  const closed = await startApi({ config: apiConfig(theirs.address, { seals: false }), logger: quiet })
  expect((await fetch(`${closed.url}/seals`)).status).toBe(404)
  await closed.close()
})

it('the comparison with a node of another chain is refused', async () => {
  const other = remoteSource(api.url, 'f'.repeat(64), new AbortController().signal)
  await expect(compareWith(client, other)).rejects.toMatchObject({ code: 'USAGE' })
})

it("the comparison with an unreachable node names the node's URL with scheme and path, without credentials", async () => {
  const other = remoteSource('http://user:word@127.0.0.1:9/nft/', chainId, new AbortController().signal)
  await expect(compareWith(client, other)).rejects.toMatchObject({
    code: 'VERIFY_UNFINISHED',
    message: 'http://127.0.0.1:9/nft/seals did not answer with seals',
  })
  await expect(other.parts('assets.logs', { range: 1, from: 5, to: 9, offset: 0 })).rejects.toMatchObject({
    message: 'http://127.0.0.1:9/nft/seals/rows did not answer with seals of assets.logs, blocks 5 to 9',
  })
})
