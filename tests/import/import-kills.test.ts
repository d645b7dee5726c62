import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { compareDumps, dumpDatabase } from '../integration/database-dump.ts'
import type { DatabaseDump } from '../integration/database-dump.ts'
import { createFillerHome } from '../integration/filler-process.ts'
import type { FillerHome, FillerProcess, ProcessEnd } from '../integration/filler-process.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { restoreOldDatabase } from './old-database.ts'

const KILLS = Number(process.env.IMPORT_KILLS ?? 3)
const SEED = Number(process.env.IMPORT_SEED ?? 15)
/** The kill comes so long after a step was seen, at the most: steps take a few milliseconds. */
const LONGEST_DELAY_MS = 40

let old: TestDatabase
let straight: TestDatabase
let killed: TestDatabase
let running: TestChain
let homes: FillerHome[]

beforeAll(async () => {
  old = await restoreOldDatabase()
  straight = await createTestDatabase()
  killed = await createTestDatabase()
  running = await startChain({ recordings: ['main'] })
  homes = await Promise.all([straight, killed].map(({ address }) => createFillerHome(running, address)))
})

afterAll(async () => {
  await Promise.all(homes.map((home) => home.remove()))
  await running.chain.stop()
  await Promise.all([old.drop(), straight.drop(), killed.drop()])
})

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

async function progressOf(address: DatabaseAddress): Promise<{ progress: Progress; steps: number }> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    const { rows } = await client.query<{ finished: boolean; steps: number }>(
      'SELECT finished_at IS NOT NULL AS finished, (SELECT count(*)::integer FROM chain.import_steps) AS steps FROM chain.imports',
    )
    const row = rows[0]
    return { progress: !row ? 'not begun' : row.finished ? 'finished' : 'unfinished', steps: row?.steps ?? 0 }
  } finally {
    await client.end()
  }
}

/** A dump without the note of the import, which has its times. */
async function dump(database: TestDatabase): Promise<DatabaseDump> {
  const all = new Map(await dumpDatabase(database.address))
  all.delete('chain.imports')
  return all
}

/** Waits until an import has done so many steps, or is over. */
async function untilStep(wanted: number, process: FillerProcess): Promise<void> {
  for (;;) {
    const { progress, steps } = await progressOf(killed.address)
    if (wanted < 0 || process.hasEnded() || progress === 'finished') return
    if (progress === 'unfinished' && steps >= wanted) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

it('an import that is killed again and again ends like one that was not', async () => {
  const random = createRandom(SEED)
  const [whole, cut] = homes as [FillerHome, FillerHome]
  expect((await finish(whole)).end).toEqual({ code: 0, signal: null })
  const seen: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const process = cut.start(command())
    // The first comes before anything is written, or after the beginning.
    await untilStep((seen.at(-1) ?? 0) + random.between(kill === 0 ? -1 : 0, 3), process)
    await new Promise((resolve) => setTimeout(resolve, random.between(0, LONGEST_DELAY_MS)))
    await process.kill()
    const { progress, steps } = await progressOf(killed.address)
    if (progress === 'finished') break
    // What is committed stays committed.
    expect(steps).toBeGreaterThanOrEqual(seen.at(-1) ?? 0)
    seen.push(steps)
    if (progress === 'unfinished')
      await expect(indexUntil(running, killed.address, 846)).rejects.toMatchObject({
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
  expect(seen.filter((steps) => steps > 0).length).toBeGreaterThan(KILLS / 2)
  expect(compareDumps(await dump(straight), await dump(killed))).toEqual([])
  const again = await finish(cut)
  expect(again.end.code).toBe(1)
  expect(again.output).toContain('reader test-1 is at block 730')
})

it('an import whose source has indexed on meanwhile begins anew', async () => {
  const source = await restoreOldDatabase()
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
    await client.query("UPDATE dbinfo SET value = '1.3.25' WHERE name = 'version'")
    await client.end()
    const second = home.start(['import-database', address, '--json'])
    const end = await second.ended
    if (progress === 'finished') return
    expect(end, second.output()).toEqual({ code: 0, signal: null })
    expect(second.output()).toContain('"resumed_steps":0')
    expect(compareDumps(await dump(straight), await dump(target))).toEqual([])
  } finally {
    await home.remove()
    await Promise.all([source.drop(), target.drop()])
  }
})
