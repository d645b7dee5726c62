import { describe, expect, it } from 'vitest'
import type { HealthState, ReaderState } from './state.ts'
import { reportHealth } from './report.ts'

const NOW_MS = 1_800_000_000_000
const reader: ReaderState = {
  name: 'main-1',
  startBlock: 1,
  contracts: [{ family: 'assets', account: 'atomicassets' }],
  blockNum: 1_000,
  blockTimeMs: NOW_MS - 500,
  headBlock: 1_000,
  headTimeMs: NOW_MS - 500,
  irreversibleBlock: 990,
  mode: 'live',
  blocksPerSecond: 2,
  secondsSinceHeartbeat: 0.5,
  secondsSinceCommit: 0.5,
  secondsSinceMessage: 0.5,
  secondsSinceBlock: 0.5,
  gaps: [],
  historySince: null,
  acceptedGaps: [],
  nodes: [],
  problem: undefined,
}
const state: HealthState = {
  database: 'up',
  servers: [{ server: 'primary', state: 'ready', lagMs: 0, isInUse: true }],
  kvstore: 'up',
  kvstoreKind: 'redis',
  cacheHitShare: 0.98765,
  readers: [reader],
  starting: [],
  feeds: [],
  node: { chainId: 'c', headBlock: 1_001, headId: 'c', headTimeMs: NOW_MS, irreversibleBlock: 990 },
  chainId: 'c',
}
const settings = {
  version: '1.0.0',
  readers: [],
  irreversibleReaders: [],
  stopBlocks: new Map<string, number>(),
  demo: false,
}

function statusOf(change: Partial<HealthState>, more: Partial<typeof settings> = {}): string {
  const { status, reasons } = reportHealth({ ...state, ...change }, { ...settings, ...more }, NOW_MS)
  return [status, ...reasons].join(': ')
}

describe('/health', () => {
  it('/health names the data that an imported database lacks', () => {
    const acceptedGaps = ['assets.assets has every asset_id that the contract has given out: asset_id 5 to 9']
    const { data } = reportHealth({ ...state, readers: [{ ...reader, acceptedGaps }] }, settings, NOW_MS)
    expect(data.chain).toMatchObject({ service: { readers: [{ missing_rows: acceptedGaps }] } })
  })

  it('/health reports healthy if every reader is at the head', () => {
    const { status, data } = reportHealth(state, settings, NOW_MS)
    expect(status).toBe('healthy')
    expect(data).toMatchObject({
      version: '1.0.0',
      postgres: { status: 'OK', readers: [{ name: 'main-1', block_num: '1000' }] },
      redis: { status: 'OK' },
      chain: {
        status: 'OK',
        head_block: 1_001,
        head_time: NOW_MS,
        chain_id: 'c',
        service: { status: 'healthy', reasons: [], readers: [{ name: 'main-1', lag_blocks: 1 }] },
      },
    })
    expect(data.chain).not.toHaveProperty('demo')
  })

  it('/health reports degraded if answers are right but a component reports a problem', () => {
    expect(statusOf({ kvstore: 'unavailable' })).toBe('degraded: the key-value store is unavailable')
    expect(statusOf({ kvstore: 'read-only' })).toBe(
      'degraded: the key-value store refuses writes: the server is a read-only replica (READONLY)',
    )
    expect(statusOf({ readers: [{ ...reader, blockNum: 970 }] })).toBe(
      'degraded: a reader is 31 blocks behind',
    )
    expect(statusOf({ readers: [{ ...reader, secondsSinceHeartbeat: 60 }] })).toBe(
      'degraded: reader main-1 is silent',
    )
    expect(statusOf({ node: undefined, readers: [{ ...reader, headTimeMs: NOW_MS - 20_000 }] })).toBe(
      'degraded: the chain head is old',
    )
  })

  it('/health reports healthy if a reader stands at its stop_block, however far the head is', () => {
    const done = { ...reader, mode: 'stopped', headBlock: 9_000, secondsSinceHeartbeat: 3_600, problem: 'x' }
    const node = { ...state.node!, headBlock: 9_001 }
    const at = (stopBlock: number, more: readonly ReaderState[] = []) =>
      reportHealth(
        { ...state, node, readers: [done, ...more] },
        { ...settings, stopBlocks: new Map([['main-1', stopBlock]]) },
        NOW_MS,
      )
    const { status, reasons, data, lags } = at(1_000)
    expect([status, reasons]).toEqual(['healthy', []])
    expect(lags).toEqual([{ reader: 'main-1', lagBlocks: 0, lagSeconds: 0 }])
    expect(data.chain).toMatchObject({
      service: { readers: [{ state: 'stopped at stop_block 1000', lag_blocks: 0 }] },
    })
    // A reader before its `stop_block` can be behind. A reader at its `stop_block` is not behind, but another reader
    // can be.
    expect(at(1_400)).toMatchObject({ status: 'unhealthy', lagBlocks: 400, lags: [{ lagSeconds: 200 }] })
    expect(at(1_000, [{ ...reader, name: 'other' }]).reasons).toEqual(['a reader is 8001 blocks behind'])
  })

  describe('the time of the head', () => {
    const catchingUp = {
      ...reader,
      blockNum: 1_000,
      blockTimeMs: NOW_MS - 7_200_000,
      headBlock: 11_000,
      headTimeMs: undefined,
      mode: 'catching-up',
    }
    const report = (change: Partial<HealthState>) => reportHealth({ ...state, ...change }, settings, NOW_MS)

    it('while a reader catches up, the time of the head is the time that the node reports', () => {
      const node = {
        chainId: 'c',
        headBlock: 10_998,
        headId: 'c',
        headTimeMs: NOW_MS - 1_000,
        irreversibleBlock: 10_990,
      }
      const { head, lags, headAgeMs } = report({ node, readers: [catchingUp] })
      expect(head).toEqual({ block: 11_000, timeMs: NOW_MS })
      expect(headAgeMs).toBe(0)
      expect(lags).toEqual([{ reader: 'main-1', lagBlocks: 10_000, lagSeconds: 7_200 }])
    })

    it('the time of the head is computed from the newest known block when the node does not answer', () => {
      const { head, lags } = report({ node: undefined, readers: [catchingUp] })
      expect(head).toEqual({ block: 11_000, timeMs: NOW_MS - 7_200_000 + 5_000_000 })
      expect(lags[0]?.lagSeconds).toBe(5_000)
    })

    it('the time of the head is never in the future, and never 1970', () => {
      const young = { ...catchingUp, blockTimeMs: NOW_MS - 1_000 }
      expect(report({ node: undefined, readers: [young] }).head.timeMs).toBe(NOW_MS)
      const unknown = { ...catchingUp, blockNum: 0, blockTimeMs: 0 }
      const { head, headAgeMs, data, lags } = report({ node: undefined, readers: [unknown] })
      expect([head.timeMs, headAgeMs]).toEqual([null, null])
      expect(data.chain).toMatchObject({ head_time: null })
      expect(lags[0]?.lagSeconds).toBe(5_500)
    })
  })

  it('/health names skipped blocks', () => {
    expect(statusOf({ readers: [{ ...reader, gaps: [[101, 199]] }] })).toBe(
      'degraded: reader main-1 lacks blocks 101 to 199',
    )
  })

  it('/health names the problem that stops a reader', () => {
    expect(statusOf({ readers: [{ ...reader, problem: 'the chain node is silent' }] })).toBe(
      'degraded: reader main-1: the chain node is silent',
    )
  })

  it('/health names the problem of a reader that has not committed a block yet', () => {
    const starting = [
      { name: 'main-1', problem: 'the chain node refuses connections' },
      { name: 'main-2', problem: undefined },
    ]
    expect(statusOf({ readers: [], starting })).toBe(
      'unhealthy: no reader has indexed anything: reader main-1: the chain node refuses connections',
    )
  })

  it('/health reports unhealthy if the database is unavailable, no reader has indexed a block, or a reader is 180 blocks behind', () => {
    expect(statusOf({ database: 'unavailable' })).toBe('unhealthy: the database is unavailable')
    expect(statusOf({ readers: [] })).toBe('unhealthy: no reader has indexed anything')
    expect(statusOf({ readers: [{ ...reader, blockNum: 821 }] })).toBe(
      'unhealthy: a reader is 180 blocks behind',
    )
    expect(statusOf({ readers: [{ ...reader, blockNum: 822 }] })).toMatch(/^degraded/)
  })

  it('/health reports degraded while only replicas answer, or one replica does not answer', () => {
    const primary = { server: 'primary', state: 'unavailable', lagMs: 0, isInUse: false } as const
    const replica = { server: 'db-2:5432', state: 'ready', lagMs: 40.4, isInUse: true } as const
    const servers = [primary, replica]
    expect(statusOf({ database: 'unavailable', servers })).toBe(
      'degraded: the primary is unavailable, a replica answers',
    )
    const { data } = reportHealth({ ...state, database: 'unavailable', servers }, settings, NOW_MS)
    expect(data).toMatchObject({
      postgres: { status: 'OK' },
      chain: {
        service: {
          database: 'unavailable',
          servers: [
            { server: 'primary', state: 'unavailable', in_use: false },
            { server: 'db-2:5432', state: 'ready', lag_ms: 40, in_use: true },
          ],
        },
      },
    })
    const gone = { ...replica, state: 'unavailable', lagMs: undefined } as const
    expect(statusOf({ database: 'unavailable', servers: [primary, gone] })).toMatch(
      /^unhealthy: the database is unavailable/,
    )
    expect(
      statusOf({
        servers: [
          { ...primary, state: 'ready', isInUse: true },
          { ...gone, isInUse: false },
        ],
      }),
    ).toBe('degraded: replica db-2:5432 is unavailable')
  })

  it('/health considers only the readers that the server depends on', () => {
    const abandoned = { ...reader, name: 'old', blockNum: 1 }
    expect(statusOf({ readers: [reader, abandoned] })).toMatch(/^unhealthy/)
    expect(statusOf({ readers: [reader, abandoned] }, { readers: ['main-1'] as never[] })).toBe('healthy')
  })

  it('/health measures a reader of irreversible blocks against the last irreversible block', () => {
    const behind = { ...reader, blockNum: 700, irreversibleBlock: 701 }
    expect(statusOf({ readers: [behind] }, { irreversibleReaders: ['main-1'] as never[] })).toBe('healthy')
  })

  it('/health reports no head below the block of a reader', () => {
    const ahead = { ...reader, blockNum: 1_002 }
    expect(reportHealth({ ...state, readers: [ahead] }, settings, NOW_MS).data).toMatchObject({
      chain: { service: { readers: [{ block_num: '1002', head_block: '1002' }] } },
    })
  })

  it('/health reports that the chain is the bundled demo chain', () => {
    expect(reportHealth(state, { ...settings, demo: true }, NOW_MS).data.chain).toMatchObject({ demo: true })
  })
})
