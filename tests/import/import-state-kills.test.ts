import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createFillerHome } from '../integration/filler-process.ts'
import type { FillerHome, FillerProcess } from '../integration/filler-process.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'
import { broadMix, verifyOf } from '../verify/verify-of.ts'

const KILLS = Number(process.env.IMPORT_KILLS ?? rounds(1, 2))
const SEED = Number(process.env.IMPORT_SEED ?? 15)
/** Maximum delay between the start of an import and its kill, ms: about the duration of a whole import. */
const LONGEST_DELAY_MS = 1_500
const BLOCK_MS = patient(Number(process.env.BLOCK_MS ?? 300))
/** Exit code for `IMPORT_UNFINISHED`. */
const UNFINISHED = 75

let running: TestChain
let imported: TestDatabase
let whole: TestDatabase
let home: FillerHome
let stopping: AbortController
let producing: Promise<void>
let forks = 0

beforeAll(async () => {
  imported = await createTestDatabase()
  whole = await createTestDatabase()
  running = await startChain({ blocks: 80, rate: 6, mix: broadMix, seed: SEED, libLagBlocks: 6 })
  home = await createFillerHome(running, imported.address)
  stopping = new AbortController()
  producing = produce(stopping.signal)
})

afterAll(async () => {
  stopping.abort()
  await producing
  await home.remove()
  await running.chain.stop()
  await Promise.all([imported.drop(), whole.drop()])
})

/** Replaces the imported database by an empty one. */
async function renew(): Promise<void> {
  await home.remove()
  await imported.drop()
  imported = await createTestDatabase()
  home = await createFillerHome(running, imported.address)
}

/** Produces blocks. On average, a fork follows every fifth block. */
async function produce(signal: AbortSignal): Promise<void> {
  const random = createRandom(SEED)
  while (!signal.aborted) {
    running.chain.generate(1)
    if (random.fraction() < 0.2) {
      running.chain.fork(random.between(1, 4), 4)
      forks++
    }
    await delay(BLOCK_MS)
  }
}

async function query<T extends object>(database: TestDatabase, text: string): Promise<T[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  try {
    return (await client.query<T>(text)).rows
  } finally {
    await client.end()
  }
}

interface Begun {
  readonly since: number
  readonly is_finished: boolean
  readonly steps: number
}

const BEGUN = `SELECT history_since AS since, finished_at IS NOT NULL AS is_finished,
  (SELECT count(*)::integer FROM chain.import_steps) AS steps FROM chain.imports`

async function progress(): Promise<Begun | undefined> {
  const [row] = await query<Begun>(imported, BEGUN)
  return row
}

/** Waits until an import has completed `wanted` write steps or has ended. */
async function untilStep(wanted: number, process: FillerProcess): Promise<void> {
  const client = await connectDatabase(imported.address, { applicationName: 'test' })
  try {
    for (;;) {
      const [now] = (await client.query<Begun>(BEGUN)).rows
      if (process.hasEnded() || now?.is_finished === true || (now?.steps ?? 0) >= wanted) return
      await delay(5)
    }
  } finally {
    await client.end()
  }
}

/** SQL statements that read the rows stored since a block. */
const histories = (since: number) => [
  `SELECT to_jsonb(a) - ARRAY['schema_key'] AS row FROM assets.assets a WHERE minted_at_block >= ${since} ORDER BY asset_id`,
  `SELECT asset_id, updated_at_block, updated_at_time, burned_at_block, burned_by_account, owner, mutable_data,
     CASE WHEN transferred_at_block >= ${since} THEN transferred_at_time END AS transferred
   FROM assets.assets WHERE updated_at_block >= ${since} ORDER BY 1`,
  `SELECT t.* FROM assets.transfers t CROSS JOIN assets.origin_of(t.transfer_id) o WHERE o.block_num >= ${since} ORDER BY 1`,
  `SELECT l.* FROM assets.logs l CROSS JOIN assets.origin_of(l.seq) o WHERE o.block_num >= ${since} ORDER BY 1`,
  `SELECT * FROM assets.offers WHERE created_at_block >= ${since} ORDER BY 1`,
  `SELECT offer_id, state, updated_at_block FROM assets.offers WHERE updated_at_block >= ${since} ORDER BY 1`,
  `SELECT sale_id, seller, asset_ids, offer_id, listing_price, created_at_time FROM market.sales WHERE created_at_block >= ${since} ORDER BY 1`,
  `SELECT sale_id, state, buyer, price, updated_at_block FROM market.sales WHERE updated_at_block >= ${since} ORDER BY 1`,
  `SELECT auction_id, state, buyer, price, updated_at_block FROM market.auctions WHERE updated_at_block >= ${since} ORDER BY 1`,
  `SELECT buyoffer_id, state, price, updated_at_block FROM market.buyoffers WHERE updated_at_block >= ${since} ORDER BY 1`,
  `SELECT link_id, state, claimer, updated_at_block FROM tools.links WHERE updated_at_block >= ${since} ORDER BY 1`,
]

const command = ['import-state', '--json', '--requests', '4']

/** Runs and kills the import KILLS times; starts a new import whenever one finishes earlier. */
async function killAgainAndAgain(): Promise<void> {
  const random = createRandom(SEED)
  let seen: number[] = []
  let since: number | undefined
  let kills = 0
  while (kills < KILLS) {
    const process = home.start(command)
    if (kills % 2 === 0)
      await delay(random.between(0, LONGEST_DELAY_MS) + (kills === 0 ? LONGEST_DELAY_MS : 0))
    else await untilStep((seen.at(-1) ?? 0) + random.between(1, 9), process)
    if (await process.kill()) kills++
    const now = await progress()
    if (now?.is_finished === true) {
      if (kills >= KILLS) break
      await renew()
      seen = []
      since = undefined
      continue
    }
    await expectUnfinished(now, seen.at(-1) ?? 0, since)
    seen.push(now?.steps ?? 0)
    since = now?.since
  }
  if (process.env.TEST_LOG !== undefined) process.stderr.write(`${JSON.stringify({ kills, seen, forks })}\n`)
}

/**
 * Checks that committed steps and the start block of the import survive, and that no filler continues from an
 * unfinished import.
 */
async function expectUnfinished(
  now: Begun | undefined,
  steps: number,
  since: number | undefined,
): Promise<void> {
  expect(now?.steps ?? 0).toBeGreaterThanOrEqual(steps)
  if (since !== undefined) expect(now?.since).toBe(since)
  if (now !== undefined)
    await expect(indexUntil(running, imported.address, 1_000)).rejects.toMatchObject({
      code: 'IMPORT_UNFINISHED',
    })
}

/** Runs the import until it finishes. */
async function finish(): Promise<void> {
  if ((await progress())?.is_finished === true) return
  let last = home.start(command)
  // On a busy machine the node may answer more slowly than it produces blocks; the import then exits and is started
  // again.
  for (let again = 0; again < 5 && (await last.ended).code === UNFINISHED; again++) last = home.start(command)
  expect(await last.ended, last.output()).toEqual({ code: 0, signal: null })
  expect(last.output()).not.toContain('is not known')
}

it(
  'an import of the chain state that is killed repeatedly while the chain forks ends with the state of the chain',
  async () => {
    await killAgainAndAgain()
    await finish()
    const { since } = (await progress())!
    const again = home.start(command)
    expect((await again.ended).code).toBe(1)
    stopping.abort()
    await producing
    expect(forks).toBeGreaterThan(0)
    const head = running.chain.head().num
    await indexUntil(running, imported.address, head)
    expect(
      await verifyOf(imported.address, { kind: 'http', url: running.httpUrl }, { pollMs: 50 }),
    ).toMatchObject({ differences: [], derived: [], unfinished: null })
    await indexUntil(running, whole.address, head)
    for (const history of histories(since))
      expect(await query(imported, history), history).toEqual(await query(whole, history))
  },
  patient(600_000),
)
