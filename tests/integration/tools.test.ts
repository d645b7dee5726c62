import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { createBegunDatabase } from './indexed-database.ts'
import { findViolations } from '../../scripts/simulation/invariants.ts'
import { linksMix, modelLinks, toolsAbi, TOOLS_ACCOUNT } from './tools-model.ts'
import type { ModelLink, ModelLog } from './tools-model.ts'

/** Number of recorded blocks before the generated blocks. */
const RECORDED = 964

const databases: TestDatabase[] = []
let running: TestChain

beforeEach(async () => {
  running = await startChain({ blocks: 160, rate: 6, mix: linksMix, libLagBlocks: 40, seed: 12 })
})

afterEach(async () => {
  await running.chain.stop()
  await Promise.all(databases.splice(0).map((database) => database.drop()))
})

/** Creates a database that is dropped after the test. */
async function create(make: () => Promise<TestDatabase>): Promise<DatabaseAddress> {
  const database = await make()
  databases.push(database)
  return database.address
}

async function query<T extends object>(address: DatabaseAddress, text: string): Promise<T[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    return (await client.query<T>(text)).rows
  } finally {
    await client.end()
  }
}

function readLinks(address: DatabaseAddress): Promise<ModelLink[]> {
  return query(
    address,
    `SELECT link_id::text, creator, claimer, claimer_signature, state, memo, public_key, asset_ids::text[],
       created_at_block, created_at_time::float8, updated_at_block, updated_at_time::float8
     FROM tools.links ORDER BY tools.links.link_id`,
  )
}

function readLogs(address: DatabaseAddress): Promise<ModelLog[]> {
  return query(
    address,
    `SELECT l.seq::text, l.subject::text AS link_id, y.name, encode(x.txid, 'hex') AS txid, x.block_num AS block,
       x.block_time::float8 AS time
     FROM tools.logs l JOIN tools.log_actions y USING (action) CROSS JOIN LATERAL tools.origin_of(l.seq) x
     ORDER BY l.seq`,
  )
}

describe('the tools handler', () => {
  it('the tools handler stores every link through all its states, with key, signature and log', async () => {
    const database = await create(createBegunDatabase)
    await indexUntil(running, database, running.chain.head().num)
    const { links, logs } = modelLinks(running.chain, await toolsAbi(running.httpUrl), RECORDED)
    const found = await readLinks(database)
    expect(found).toEqual([...links.values()])
    expect(await readLogs(database)).toEqual(logs)
    expect(new Set(found.map(({ state }) => state))).toEqual(new Set([0, 1, 2, 3]))
    const curves = new Set(found.map(({ public_key: key }) => key.slice(0, 7)))
    expect(curves).toEqual(new Set(['PUB_K1_', 'PUB_R1_', 'PUB_WA_']))
    expect(await findViolations(database)).toEqual([])
    const open = found.filter(({ state }) => state < 2).map(({ link_id: id }) => id)
    const body = JSON.stringify({
      code: TOOLS_ACCOUNT,
      scope: TOOLS_ACCOUNT,
      table: 'links',
      json: true,
      limit: 1000,
    })
    const answer = await fetch(`${running.httpUrl}/v1/chain/get_table_rows`, { method: 'POST', body })
    const { rows } = (await answer.json()) as { rows: { link_id: number }[] }
    expect(open).toEqual(rows.map(({ link_id: id }) => String(id)))
  })

  it('the tools handler ends with the same rows with and without forks', async () => {
    const { chain } = running
    const [straight, database] = [await create(createBegunDatabase), await create(createBegunDatabase)]
    for (let forks = 0; forks < 4; forks++) {
      await indexUntil(running, database, chain.head().num)
      chain.fork(3 + ((forks * 7) % 30))
      chain.generate(2)
    }
    await indexUntil(running, database, chain.head().num)
    await indexUntil(running, straight, chain.head().num)
    const [expected, found] = await Promise.all([dumpDatabase(straight), dumpDatabase(database)])
    expect(compareDumps(expected, found).filter((line) => !line.startsWith('chain.'))).toEqual([])
    expect(await findViolations(database)).toEqual([])
  })

  it('a tools handler that starts in the middle of history stores a link from its first change on', async () => {
    const { chain } = running
    const abi = await toolsAbi(running.httpUrl)
    const all = modelLinks(chain, abi, RECORDED)
    const database = await create(createTestDatabase)
    const from = all.logs[Math.floor(all.logs.length / 2)]!.block
    await indexUntil(running, database, chain.head().num, {
      settings: { start_block: from },
    })
    const logs = all.logs.filter(({ block }) => block >= from)
    expect(await readLogs(database)).toEqual(logs)
    const touched = new Map(logs.toReversed().map((log) => [log.link_id, log]))
    const expected = [...all.links.values()]
      .filter(({ link_id: id }) => touched.has(id))
      .map((link): ModelLink => {
        if (link.created_at_block >= from) return link
        const first = touched.get(link.link_id)!
        return { ...link, created_at_block: first.block, created_at_time: first.time }
      })
    expect(expected.some(({ link_id: id }) => all.links.get(id)!.created_at_block < from)).toBe(true)
    expect(await readLinks(database)).toEqual(expected)
  })

  it('a reader of tools that is ahead of the assets reader completes its links once the assets are indexed', async () => {
    const { chain } = running
    const database = await create(createTestDatabase)
    const readerOf = (name: string, contracts: ReaderSettings['contracts']) =>
      indexUntil(running, database, chain.head().num, { settings: { name, contracts } })
    const { contracts } = testSettings
    const links = contracts.filter(({ handler }) => handler === 'tools')
    const others = contracts.filter(({ handler }) => handler !== 'tools')
    const incomplete = () => query(database, 'SELECT link_id FROM tools.links WHERE has_unknown_assets')
    await readerOf('links', links)
    expect((await incomplete()).length).toBeGreaterThan(10)
    await readerOf('others', others)
    chain.generate(45)
    await readerOf('others', others)
    await readerOf('links', links)
    expect(await incomplete()).toEqual([])
    expect(await findViolations(database)).toEqual([])
  })
})
