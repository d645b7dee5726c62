import { describe, expect, it } from 'vitest'
import type { HealthState, ReaderState } from './index.ts'
import { reportHealth } from './index.ts'

const nowMs = 1_800_000_000_000
const reader: ReaderState = {
  name: 'main-1',
  blockNum: 1_000,
  blockTimeMs: nowMs - 500,
  headBlock: 1_000,
  headTimeMs: nowMs - 500,
  irreversibleBlock: 990,
  mode: 'live',
  blocksPerSecond: 2,
  secondsSinceHeartbeat: 0.5,
  secondsSinceCommit: 0.5,
}
const state: HealthState = {
  database: 'up',
  kvstore: 'up',
  kvstoreKind: 'redis',
  readers: [reader],
  node: { chainId: 'c', headBlock: 1_001, headTimeMs: nowMs },
  chainId: 'c',
}
const settings = { version: '1.0.0', readers: [], irreversibleReaders: [], demo: false }

function statusOf(change: Partial<HealthState>, more: Partial<typeof settings> = {}): string {
  const { status, reasons } = reportHealth({ ...state, ...change }, { ...settings, ...more }, nowMs)
  return [status, ...reasons].join(': ')
}

describe('health', () => {
  it('is healthy at the head', () => {
    const { status, data } = reportHealth(state, settings, nowMs)
    expect(status).toBe('healthy')
    expect(data).toMatchObject({
      version: '1.0.0',
      postgres: { status: 'OK', readers: [{ name: 'main-1', block_num: '1000' }] },
      redis: { status: 'OK' },
      chain: {
        status: 'OK',
        head_block: 1_001,
        head_time: nowMs,
        chain_id: 'c',
        service: { status: 'healthy', reasons: [], readers: [{ name: 'main-1', lag_blocks: 1 }] },
      },
    })
    expect(data.chain).not.toHaveProperty('demo')
  })

  it('is degraded while answers are right but something is wrong', () => {
    expect(statusOf({ kvstore: 'away' })).toBe('degraded: the key-value store is away')
    expect(statusOf({ readers: [{ ...reader, blockNum: 970 }] })).toBe(
      'degraded: a reader is 31 blocks behind',
    )
    expect(statusOf({ readers: [{ ...reader, secondsSinceHeartbeat: 60 }] })).toBe(
      'degraded: reader main-1 is silent',
    )
    expect(statusOf({ node: undefined, readers: [{ ...reader, headTimeMs: nowMs - 20_000 }] })).toBe(
      'degraded: the chain head is old',
    )
  })

  it('is unhealthy when another server should be asked', () => {
    expect(statusOf({ database: 'away' })).toBe('unhealthy: the database is away')
    expect(statusOf({ readers: [] })).toBe('unhealthy: no reader has indexed anything')
    expect(statusOf({ readers: [{ ...reader, blockNum: 821 }] })).toBe(
      'unhealthy: a reader is 180 blocks behind',
    )
    expect(statusOf({ readers: [{ ...reader, blockNum: 822 }] })).toMatch(/^degraded/)
  })

  it('looks only at the readers that the server depends on', () => {
    const abandoned = { ...reader, name: 'old', blockNum: 1 }
    expect(statusOf({ readers: [reader, abandoned] })).toMatch(/^unhealthy/)
    expect(statusOf({ readers: [reader, abandoned] }, { readers: ['main-1'] as never[] })).toBe('healthy')
  })

  it('measures a reader of irreversible blocks against the last irreversible one', () => {
    const behind = { ...reader, blockNum: 700, irreversibleBlock: 701 }
    expect(statusOf({ readers: [behind] }, { irreversibleReaders: ['main-1'] as never[] })).toBe('healthy')
  })

  it('says when the chain is the bundled one', () => {
    expect(reportHealth(state, { ...settings, demo: true }, nowMs).data.chain).toMatchObject({ demo: true })
  })
})
