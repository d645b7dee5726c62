import { afterEach, expect, it } from 'vitest'
import { patient } from '../../tests/setup/patience.ts'
import type { StoreState } from '../core/kvstore/index.ts'
import { createLogger } from '../core/log/index.ts'
import { startFillerHealth } from './health.ts'
import type { FillerHealth, ReceivedStatus } from './health.ts'
import type { ReaderStatus } from './pipeline/index.ts'

const well: ReaderStatus = {
  reader: 'main-1',
  state: 'live',
  block: 100,
  blockTimeMs: 1_700_000_000_000,
  head: 100,
  headTimeMs: 1_700_000_000_000,
  irreversible: 95,
  blocksPerSecond: 2,
  operations: 1,
  forks: 0,
  queuedBlocks: 0,
  undecodableActions: 0,
  unknownTables: 0,
  committedAtMs: 1_700_000_000_100,
  blocksBehind: 0,
  receivedBlocks: 100,
  receivedBytes: 1_000,
  connections: 1,
  heldBytes: 0,
  sinceMessageMs: 1_200,
  sinceBlockMs: 2_300,
  sinceCommitMs: 3_400,
  gaps: [{ first: 20, last: 29 }],
  nodes: [
    {
      url: 'ws://a:8080/',
      state: 'followed',
      headNum: 105,
      lagBlocks: 0,
      blocksReceived: 100,
      bytesReceived: 4_000,
      bytesPerSecond: 812.4,
      faults: 1,
      lastFault: 'it was slow',
    },
  ],
  problem: null,
}

let health: FillerHealth | undefined
afterEach(() => health?.close())

async function ask(received: Partial<ReceivedStatus>, store: StoreState = 'up') {
  const statuses = new Map([['main-1', { status: well, atMs: performance.now(), ...received }]])
  const logger = createLogger({ name: 'test', level: 'silent' })
  const renderMetrics = () => Promise.resolve('')
  const storeState = () => store
  const stopBlocks = new Map([['main-1', 100]])
  const options = { address: '127.0.0.1', port: 0, statuses, stopBlocks, storeState, renderMetrics, logger }
  health = await startFillerHealth(options)
  const url = `http://127.0.0.1:${health.port}`
  const response = await fetch(`${url}/health`)
  const { data } = (await response.json()) as { data: Record<string, unknown> }
  return { status: response.status, data, alive: (await fetch(`${url}/healthc`)).status }
}

/** Matches a number between `seconds` and `seconds` plus the duration of the test. */
const atLeast = (seconds: number) =>
  expect.toSatisfy((found: number) => found >= seconds && found < seconds + patient(60_000) / 1_000) as number

it('/health of the filler answers healthy while readers make progress, with the time since the last commit', async () => {
  const { status, data } = await ask({})
  expect(status).toBe(200)
  expect(data).toMatchObject({
    status: 'healthy',
    reasons: [],
    readers: [
      {
        name: 'main-1',
        problem: null,
        missing_blocks: [{ first_block: 20, last_block: 29 }],
        nodes: [{ url: 'ws://a:8080/', state: 'followed', bytes_per_second: 812, faults: 1 }],
        seconds_since_message: atLeast(1.2),
        seconds_since_block: atLeast(2.3),
        seconds_since_commit: atLeast(3.4),
      },
    ],
  })
})

it('while a reader is stalled, /health of the filler answers 503, and /healthc answers 200', async () => {
  const problem = {
    summary: 'blocks are waiting to be committed',
    detail: 'blocks are waiting to be committed: 7 blocks, no commit for 31 s',
  }
  const { status, data, alive } = await ask({ status: { ...well, problem } })
  expect([status, alive]).toEqual([503, 200])
  expect(data).toMatchObject({
    status: 'stalled',
    reasons: ['reader main-1: blocks are waiting to be committed: 7 blocks, no commit for 31 s'],
  })
})

it('/health of the filler answers healthy after a reader has stopped at its stop_block, and contains the block number', async () => {
  const status = { ...well, state: 'stopped', head: 900 } as const
  const long = { status, atMs: performance.now() - 3_600_000 }
  expect(await ask(long)).toMatchObject({
    status: 200,
    data: { status: 'healthy', readers: [{ state: 'stopped at stop_block 100', problem: null }] },
  })
})

it('the health of the filler is unhealthy while the thread of a reader is silent', async () => {
  const { status, data } = await ask({ atMs: performance.now() - 40_000 })
  expect(status).toBe(503)
  expect(data.reasons).toEqual(['reader main-1: the thread of the reader has sent no status for 40 s'])
})

it('the health of the filler reports why the key-value store refuses writes, while readers progress', async () => {
  const { status, data, alive } = await ask({}, 'out of memory')
  expect([status, alive]).toEqual([200, 200])
  expect(data).toMatchObject({
    status: 'degraded',
    reasons: ['the key-value store refuses writes: the server has reached its maxmemory (OOM)'],
    kvstore: 'out of memory',
  })
})
