import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { corpusNames, readCorpus } from '../../scripts/conformance/corpus.ts'
import { sendEntry } from '../../scripts/conformance/run.ts'
import { serveStage, stageReader } from '../../scripts/conformance/stage.ts'
import type { StageChain } from '../../scripts/conformance/stage.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { importState } from '../../services/filler/import/index.ts'
import type {
  ImportProgress,
  ImportStateOptions,
  ImportStateReport,
} from '../../services/filler/import/index.ts'
import { quiet } from '../api/server.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { makeKey, startService, StateClient } from '../state/service.ts'
import { verifyOf } from '../verify/verify-of.ts'
import { compareCurrentState, isOfCurrentState } from './current-state.ts'
import { cutMainAt } from './cut-recording.ts'
import type { CutRecording } from './cut-recording.ts'

const tablesOf = (recording: string) => ({
  kind: 'folder' as const,
  path: join(import.meta.dirname, `../fixtures/recordings/${recording}/tables`),
})
const logger = createLogger({
  name: 'test',
  level: process.env.TEST_LOG === undefined ? 'silent' : 'info',
  pretty: true,
})

let imported: TestDatabase
let whole: TestDatabase
/** The complete chain. The import reads blocks from its node. */
let running: TestChain
/** The chain as of block 842, with last irreversible block 840. The import reads its tables page by page. */
let past: TestChain
let recording: CutRecording
let stage: StageChain

beforeAll(async () => {
  imported = await createTestDatabase()
  whole = await createTestDatabase()
  recording = await cutMainAt(842)
  running = await startChain({ recordings: ['main', 'v2'] })
  past = await startChain({ recordings: [recording.folder] })
  stage = { chainId: running.chain.chainId, httpUrl: running.httpUrl, shipUrl: running.shipUrl }
})

afterAll(async () => {
  await Promise.all([running.chain.stop(), past.chain.stop()])
  await recording.remove()
  await Promise.all([imported.drop(), whole.drop()])
})

const readTo = (database: TestDatabase, block: number) =>
  indexUntil(running, database.address, block, {
    settings: { ...stageReader(database.address, stage), stop_block: block },
  })

function runImport(more: Partial<ImportStateOptions> = {}): Promise<ImportStateReport> {
  return importState({
    database: imported.address,
    chain: { chainId: running.chain.chainId, http: past.httpUrl, ship: [running.shipUrl] },
    settings: stageReader(imported.address, stage),
    atOnce: 4,
    startOver: false,
    logger,
    signal: new AbortController().signal,
    ...more,
  })
}

async function query<T extends object>(database: TestDatabase, text: string): Promise<T[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  try {
    return (await client.query<T>(text)).rows
  } finally {
    await client.end()
  }
}

describe('the state of a chain', () => {
  let report: ImportStateReport

  beforeAll(async () => {
    report = await runImport()
  })

  it('the state of a chain is imported from the last irreversible block up to the block at which paging ended', async () => {
    expect(report).toMatchObject({
      block: 842,
      historySince: 841,
      resumed: false,
      pagesReadAgain: 0,
      missingContracts: [],
    })
    expect(await query(imported, 'SELECT kind, block_num, history_since FROM chain.imports')).toEqual([
      { kind: 'state', block_num: 842, history_since: 841 },
    ])
  })

  it('imported state equals the tables of the chain, including all derived rows', async () => {
    expect(await verifyOf(imported.address, tablesOf('main'))).toMatchObject({
      differences: [],
      derived: [],
      unfinished: null,
    })
  })

  it('the state service has ABIs from the first block of the import on', async () => {
    const service = await startService(imported, { chainId: running.chain.chainId, httpUrl: past.httpUrl })
    try {
      const client = new StateClient(service.url)
      await client.login((await makeKey(imported)).key)
      for (const account of ['atomicassets', 'eosio.token'])
        for (const block_num of [0, 840])
          expect((await client.get('/v0/state/abi', { account, block_num })).body).toMatchObject({
            block_num: 840,
            in_force: 'at_or_before',
          })
      const before = await client.get('/v0/state/abi', { account: 'atomicassets', block_num: 839 })
      expect(before.body.code).toBe('app_block_num_lower_than_first_block_error')
    } finally {
      await service.close()
    }
  })

  it('indexing continues from imported state through an upgrade of the contracts', async () => {
    await readTo(imported, 964)
    expect(await verifyOf(imported.address, tablesOf('v2'))).toMatchObject({
      differences: [],
      derived: [],
      unfinished: null,
    })
  })

  it('after an import, the first assets of a template get the mint numbers that they have in a database that indexed all blocks', async () => {
    await readTo(whole, 964)
    const mints = `SELECT a.asset_id, a.template_mint, a.minter FROM assets.assets a
      WHERE a.template_id IN (SELECT template_id FROM assets.assets GROUP BY 1 HAVING min(minted_at_block) > 840)
      ORDER BY 1`
    const expected = await query(whole, mints)
    expect(expected.length).toBeGreaterThanOrEqual(3)
    expect(await query(imported, mints)).toEqual(expected)
  })

  it('a database with imported state gives the same answers as a database that indexed all blocks, except for unknown data', async () => {
    const [one, other] = [
      await serveStage(whole.address, stage, quiet),
      await serveStage(imported.address, stage, quiet),
    ]
    try {
      let compared = 0
      const different: string[] = []
      for (const entry of corpusNames.flatMap(readCorpus).filter(isOfCurrentState)) {
        const [expected, found] = await Promise.all([sendEntry(one.url, entry), sendEntry(other.url, entry)])
        const outcome = compareCurrentState(entry, expected, found)
        if (outcome === 'left out') continue
        compared++
        if (outcome !== 'equal')
          different.push(`${entry.id} ${entry.request.path}?${entry.request.query}: ${outcome}`)
      }
      if (process.env.TEST_LOG !== undefined) process.stderr.write(`compared ${compared}\n`)
      expect(different).toEqual([])
      expect(compared).toBeGreaterThan(100)
    } finally {
      await one.close()
      await other.close()
    }
  })

  it('on a database with imported state, the API reports the block from which the history is complete', async () => {
    const api = await serveStage(imported.address, stage, quiet)
    try {
      const get = async (path: string) =>
        (await (await fetch(`${api.url}${path}`)).json()) as {
          data: Record<string, unknown> & { chain: { service: { readers: unknown[] } } }
        }
      for (const namespace of ['atomicassets', 'atomicmarket'])
        expect((await get(`/${namespace}/v1/config`)).data.history_since_block).toBe('841')
      const { readers } = (await get('/health')).data.chain.service
      expect(readers).toMatchObject([{ history_since_block: '841' }])
      const old = '/atomicassets/v1/assets?limit=1000&order=asc&sort=asset_id'
      const assets = (await get(old)).data as unknown as Record<string, unknown>[]
      const unknown = {
        minted_at_time: null,
        minted_at_block: null,
        updated_at_time: null,
        template_mint: null,
      }
      expect(assets.find(({ template }) => template !== null)).toMatchObject(unknown)
      const transfers = (await get('/atomicassets/v1/transfers?limit=100')).data as unknown as {
        created_at_block: string
      }[]
      expect(transfers.every(({ created_at_block: block }) => Number(block) > 840)).toBe(true)
    } finally {
      await api.close()
    }
  })

  it('the state of a chain cannot be imported twice', async () => {
    await expect(runImport()).rejects.toMatchObject({ code: 'IMPORT_TARGET_FILLED' })
  })

  it('indexing blocks with delete_data replaces imported state', async () => {
    const settings = { ...stageReader(imported.address, stage), stop_block: 30, delete_data: true }
    await indexUntil(running, imported.address, 30, { settings })
    expect(await query(imported, 'SELECT FROM chain.imports')).toEqual([])
  })
})

describe('a contract upgraded during an import of the chain state', () => {
  const upgradeBlock = 863
  const lastBlock = 900
  let database: TestDatabase

  /** Runs the import until `isEnough` accepts a progress report, then stops it; false if the import finishes first. */
  async function runUntil(isEnough: (progress: ImportProgress) => boolean): Promise<boolean> {
    const stopping = new AbortController()
    const onProgress = (progress: ImportProgress) => {
      if (isEnough(progress)) stopping.abort()
    }
    const options = {
      database: database.address,
      settings: stageReader(database.address, stage),
      signal: stopping.signal,
    }
    return runImport({ ...options, onProgress }).then(
      () => false,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'IMPORT_UNFINISHED' })
        return stopping.signal.aborted
      },
    )
  }

  beforeEach(async () => {
    database = await createTestDatabase()
    // The import reads all tables page by page at block 842 and writes the settings. Then the test marks one page as
    // read at block 900.
    expect(await runUntil(({ phase }) => phase === 'reading blocks')).toBe(true)
    const response = await fetch(`${running.httpUrl}/v1/chain/get_block_info`, {
      method: 'POST',
      body: JSON.stringify({ block_num: lastBlock }),
    })
    const { id } = (await response.json()) as { id: string }
    await query(
      database,
      `UPDATE import.page_blocks SET num = ${lastBlock}, id = '\\x${id}' WHERE page = (SELECT max(page) FROM import.page_blocks)`,
    )
  })
  afterEach(() => database.drop())

  it('a contract upgraded during the import keeps its new version if the import is interrupted after the upgrade', async () => {
    const firstBlock = 840
    const isPastUpgrade = ({ phase, done }: ImportProgress) =>
      phase === 'reading blocks' && done > upgradeBlock + 5 - firstBlock
    expect(await runUntil(isPastUpgrade)).toBe(true)
    expect(await runUntil(() => false)).toBe(false)
    await readTo(whole, 964)
    const version = 'SELECT version, v2_since_block FROM assets.config'
    expect(await query(whole, version)).toMatchObject([{ v2_since_block: expect.any(Number) as number }])
    expect(await query(database, version)).toEqual(await query(whole, version))
  })

  it('an interrupted import is not continued if its rows have several contract versions, and succeeds with --start-over', async () => {
    await query(database, "UPDATE assets.config SET version = '2.0.0', v2_since_block = 0")
    await expect(
      runImport({ database: database.address, settings: stageReader(database.address, stage) }),
    ).rejects.toMatchObject({
      code: 'IMPORT_UNFINISHED',
      message: expect.stringContaining('--start-over') as string,
    })
    expect(
      await runImport({
        database: database.address,
        settings: stageReader(database.address, stage),
        startOver: true,
      }),
    ).toMatchObject({ block: 842, resumed: false })
  })
})
