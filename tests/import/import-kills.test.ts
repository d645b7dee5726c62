import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { compareDumps, dumpDatabase } from '../integration/database-dump.ts'
import type { DatabaseDump } from '../integration/database-dump.ts'
import { createFillerHome } from '../integration/filler-process.ts'
import type { FillerHome, FillerProcess, ProcessEnd } from '../integration/filler-process.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createRandom } from '../integration/seeded-random.ts'
import type { SeededRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { restoreOldDatabase } from './old-database.ts'

const KILLS = Number(process.env.IMPORT_KILLS ?? 3)
const SEED = Number(process.env.IMPORT_SEED ?? 15)
/** Maximum delay between a completed import step and the kill: steps take a few milliseconds. */
const LONGEST_DELAY_MS = 40

interface ImportCase {
  readonly dump: 'main-740' | 'v2-964'
  readonly recordings: readonly string[]
  /** Last block of the reader in the source database. */
  readonly block: number
}

const cases: readonly ImportCase[] = [
  { dump: 'main-740', recordings: ['main'], block: 730 },
  { dump: 'v2-964', recordings: ['main', 'v2'], block: 958 },
]

let old: TestDatabase
let straight: TestDatabase
let running: TestChain
let whole: FillerHome

const command = () => {
  const { user, password, host, port, database } = old.address
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  return ['import-database', `postgres://${login}@${host}:${port}/${database}`, '--workers', '2', '--json']
}

async function finish(home: FillerHome): Promise<{ end: ProcessEnd; output: string }> {
  const process = home.start(command())
  const end = await process.ended
  return { end, output: process.output() }
}

type Progress = 'not begun' | 'unfinished' | 'finished'

async function readProgress(client: pg.Client): Promise<{ progress: Progress; steps: number }> {
  const { rows } = await client.query<{ finished: boolean; steps: number }>(
    'SELECT finished_at IS NOT NULL AS finished, (SELECT count(*)::integer FROM chain.import_steps) AS steps FROM chain.imports',
  )
  const row = rows[0]
  return { progress: !row ? 'not begun' : row.finished ? 'finished' : 'unfinished', steps: row?.steps ?? 0 }
}

async function progressOf(address: DatabaseAddress): Promise<{ progress: Progress; steps: number }> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    return await readProgress(client)
  } finally {
    await client.end()
  }
}

/** Dumps a database without `chain.imports`, which contains times. */
async function contentOf(database: TestDatabase): Promise<DatabaseDump> {
  const all = new Map(await dumpDatabase(database.address))
  all.delete('chain.imports')
  return all
}

/** Waits until an import has completed `wanted` steps or has ended. */
async function untilStep(address: DatabaseAddress, wanted: number, process: FillerProcess): Promise<void> {
  if (wanted < 0) return
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    for (;;) {
      const { progress, steps } = await readProgress(client)
      if (process.hasEnded() || progress === 'finished') return
      if (progress === 'unfinished' && steps >= wanted) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  } finally {
    await client.end()
  }
}

/** Kills an import up to `most` times, then lets it finish; returns the number of completed steps at each kill. */
async function importWithKills(random: SeededRandom, most: number, block: number): Promise<number[]> {
  const killed = await createTestDatabase()
  const cut = await createFillerHome(running, killed.address)
  const seen: number[] = []
  try {
    while (seen.length < most) {
      const process = cut.start(command())
      // The first kill may come before the import has written anything.
      const wanted = (seen.at(-1) ?? 0) + random.between(seen.length === 0 ? -1 : 0, 3)
      await untilStep(killed.address, wanted, process)
      await new Promise((resolve) => setTimeout(resolve, random.between(0, LONGEST_DELAY_MS)))
      if (!(await process.kill())) break
      const { progress, steps } = await progressOf(killed.address)
      if (progress === 'finished') {
        seen.push(steps)
        break
      }
      // Import steps that were committed before the kill are still complete.
      expect(steps).toBeGreaterThanOrEqual(seen.at(-1) ?? 0)
      seen.push(steps)
      if (progress === 'unfinished')
        await expect(indexUntil(running, killed.address, block + 1)).rejects.toMatchObject({
          code: 'IMPORT_UNFINISHED',
        })
    }
    if ((await progressOf(killed.address)).progress !== 'finished') {
      const { end, output } = await finish(cut)
      expect(end, output).toEqual({ code: 0, signal: null })
      expect(JSON.parse(output.slice(output.indexOf('{"block_num"')))).toMatchObject({
        resumed_steps: seen.at(-1) ?? 0,
      })
    }
    expect(compareDumps(await contentOf(straight), await contentOf(killed))).toEqual([])
    const again = await cut.run(command())
    expect(again.code).toBe(1)
    expect(again.output).toContain(`reader test-1 is at block ${block}`)
    return seen
  } finally {
    await cut.remove()
    await killed.drop()
  }
}

describe.each(cases)('import of the eosio-contract-api database $dump', ({ dump, recordings, block }) => {
  beforeAll(async () => {
    old = await restoreOldDatabase(dump)
    straight = await createTestDatabase()
    running = await startChain({ recordings })
    whole = await createFillerHome(running, straight.address)
  })

  afterAll(async () => {
    await whole.remove()
    await running.chain.stop()
    await Promise.all([old.drop(), straight.drop()])
  })

  it(
    'an import that is killed repeatedly ends with the rows of an uninterrupted import',
    { timeout: patient(600_000) },
    async () => {
      const random = createRandom(SEED)
      const { code, output } = await whole.run(command())
      expect(code, output).toBe(0)
      const kills: number[][] = []
      while (kills.flat().length < KILLS)
        kills.push(await importWithKills(random, KILLS - kills.flat().length, block))
      if (process.env.TEST_LOG !== undefined)
        process.stderr.write(`steps at kills: ${JSON.stringify(kills)}\n`)
      expect(kills.flat().some((steps) => steps > 0)).toBe(true)
    },
  )

  it('an interrupted import starts over if its source has indexed further blocks', async () => {
    const source = await restoreOldDatabase(dump)
    const target = await createTestDatabase()
    const home = await createFillerHome(running, target.address)
    try {
      const { user, password, host, port, database } = source.address
      const address = `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`
      const process = home.start(['import-database', address, '--json'])
      await expect
        .poll(async () => (await progressOf(target.address)).progress, { interval: 5 })
        .not.toBe('not begun')
      await process.kill()
      const { progress } = await progressOf(target.address)
      const client = await connectDatabase(source.address, { applicationName: 'test' })
      await client.query("UPDATE dbinfo SET value = value || '.1' WHERE name = 'version'")
      await client.end()
      const second = home.start(['import-database', address, '--json'])
      const end = await second.ended
      if (progress === 'finished') return
      expect(end, second.output()).toEqual({ code: 0, signal: null })
      expect(second.output()).toContain('"resumed_steps":0')
      expect(compareDumps(await contentOf(straight), await contentOf(target))).toEqual([])
    } finally {
      await home.remove()
      await Promise.all([source.drop(), target.drop()])
    }
  })
})
