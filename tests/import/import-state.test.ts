import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { importState } from '../../services/filler/index.ts'
import type { ImportStateOptions, ImportStateReport } from '../../services/filler/index.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { verifyOf } from '../verify/verify-of.ts'
import { cutMainAt } from './cut-recording.ts'
import type { CutRecording } from './cut-recording.ts'

const tablesOf = (recording: string) => ({
  kind: 'folder' as const,
  path: join(import.meta.dirname, `../fixtures/recordings/${recording}/tables`),
})
const logger = createLogger({ name: 'test', level: process.env.TEST_LOG ?? 'silent', pretty: true })

let imported: TestDatabase
/** The whole chain, whose blocks are read. */
let running: TestChain
/** The chain as it was at block 842, whose last irreversible block is 840: its tables are paged. */
let past: TestChain
let recording: CutRecording

beforeAll(async () => {
  imported = await createTestDatabase()
  recording = await cutMainAt(842)
  running = await startChain({ recordings: ['main', 'v2'] })
  past = await startChain({ recordings: [recording.folder] })
})

afterAll(async () => {
  await Promise.all([running.chain.stop(), past.chain.stop()])
  await recording.remove()
  await imported.drop()
})

function runImport(more: Partial<ImportStateOptions> = {}): Promise<ImportStateReport> {
  return importState({
    database: imported.address,
    chain: { chainId: running.chain.chainId, http: past.httpUrl, ship: [running.shipUrl] },
    settings: testSettings,
    atOnce: 4,
    anew: false,
    logger,
    signal: new AbortController().signal,
    ...more,
  })
}

async function query<T extends object>(text: string): Promise<T[]> {
  const client = await connectDatabase(imported.address, { applicationName: 'test' })
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

  it('is imported from the last irreversible block to the one at which paging ended', async () => {
    expect(report).toMatchObject({ block: 842, historySince: 841, resumed: false, pagesReadAgain: 0 })
    expect(report.missingContracts).toEqual(['atomictoolsx'])
    expect(await query('SELECT kind, block_num, history_since FROM chain.imports')).toEqual([
      { kind: 'state', block_num: 842, history_since: 841 },
    ])
  })

  it('equals the tables of the chain, and all that follows from them', async () => {
    expect(await verifyOf(imported.address, tablesOf('main'))).toMatchObject({
      differences: [],
      derived: [],
      unfinished: null,
    })
  })

  it('is read on from there, through an upgrade of the contracts', async () => {
    await indexUntil(running, imported.address, 964)
    expect(await verifyOf(imported.address, tablesOf('v2'))).toMatchObject({
      differences: [],
      derived: [],
      unfinished: null,
    })
  })

  it('is not imported a second time', async () => {
    await expect(runImport()).rejects.toMatchObject({ code: 'IMPORT_TARGET_FILLED' })
  })
})
