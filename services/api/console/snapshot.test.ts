import { expect, it } from 'vitest'
import type { HealthState, ReaderState } from '../health/index.ts'
import { ProgressHistory } from './history.ts'
import { takeSnapshot } from './snapshot.ts'

const NOW_MS = 1_800_000_000_000
const reader: ReaderState = {
  name: 'main-1',
  startBlock: 101,
  contracts: [{ family: 'assets', account: 'atomicassets' }],
  blockNum: 1_000,
  blockTimeMs: NOW_MS - 5_000,
  headBlock: 1_100,
  headTimeMs: NOW_MS,
  irreversibleBlock: 1_050,
  mode: 'catching-up',
  blocksPerSecond: 20,
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
  servers: [
    { server: 'primary', state: 'ready', lagMs: 0, isInUse: true },
    { server: 'db-2.inside.example:5432', state: 'unavailable', lagMs: undefined, isInUse: false },
    { server: 'db-3.inside.example:5432', state: 'ready', lagMs: 3, isInUse: false },
  ],
  kvstore: 'up',
  feeds: [],
  kvstoreKind: 'redis',
  cacheHitShare: 0.98765,
  readers: [reader],
  starting: [],
  node: undefined,
  chainId: 'c'.repeat(64),
}
const facts = {
  version: '1.0.0',
  revision: undefined,
  serverName: 'nft.example',
  providerName: 'Example',
  providerUrl: 'https://example.org',
  chain: 'wax',
  health: {
    version: '1.0.0',
    readers: [],
    irreversibleReaders: [],
    stopBlocks: new Map<string, number>(),
    demo: false,
  },
  namespaces: [],
  statePort: () => undefined,
}

function snapshot(change: Partial<HealthState> = {}, more: Partial<typeof facts> = {}) {
  const history = new ProgressHistory()
  return takeSnapshot(
    { ...facts, ...more },
    { state: { ...state, ...change }, history, range: 'recent', database: null, nowMs: NOW_MS },
  )
}

it('the console data shows the position and target of each reader', () => {
  expect(snapshot().readers).toMatchObject([
    { name: 'main-1', start_block: 101, block_num: 1_000, target_block: 1_100, lag_blocks: 100 },
  ])
  const irreversible = { ...facts.health, irreversibleReaders: ['main-1'] as never[] }
  expect(snapshot({}, { health: irreversible }).readers).toMatchObject([
    { target_block: 1_050, lag_blocks: 50 },
  ])
})

it('the console data shows a reader at its stop_block as done', () => {
  const health = { ...facts.health, stopBlocks: new Map([['main-1', 1_000]]) }
  expect(snapshot({}, { health })).toMatchObject({
    health: {
      status: 'degraded',
      reasons: expect.not.arrayContaining(['a reader is 100 blocks behind']) as unknown,
    },
    readers: [{ is_done: true, target_block: 1_000, lag_blocks: 0 }],
  })
})

it('the start time of a problem in the console data stays the same while the figures of the problem change', () => {
  const history = new ProgressHistory()
  const [first, second] = ['a reader is 31 blocks behind', 'a reader is 45 blocks behind']
  const problems = { ...state, database: 'unavailable' as const }
  history.look(problems, [first], NOW_MS - 60_000)
  history.look(problems, [second, 'the chain head is old'], NOW_MS - 5_000)
  expect([second, 'the chain head is old', 'another'].map((reason) => history.since(reason))).toEqual([
    NOW_MS - 60_000,
    NOW_MS - 5_000,
    null,
  ])
  history.look(problems, [], NOW_MS - 1_000)
  history.look(problems, [first], NOW_MS)
  expect(history.since(first)).toBe(NOW_MS)
  const observed = { state: problems, history, range: 'recent', database: null, nowMs: NOW_MS } as const
  const { reasons, since } = takeSnapshot(facts, observed).health
  expect(since).toHaveLength(reasons.length)
})

it('the console data is "catching up", not "in trouble", while lag is the only problem', () => {
  const servers = state.servers.slice(0, 1)
  const of = (change: Partial<HealthState>): boolean => snapshot({ servers, ...change }).health.catching_up
  expect(of({})).toBe(true)
  expect(of({ readers: [] })).toBe(true)
  expect(of({ readers: [], starting: [{ name: 'main-1', problem: 'the chain node is silent' }] })).toBe(false)
  expect(of({ readers: [{ ...reader, mode: 'live' }] })).toBe(false)
  expect(of({ readers: [{ ...reader, problem: 'no stream from the chain node' }] })).toBe(false)
  expect(of({ readers: [{ ...reader, secondsSinceHeartbeat: 60 }] })).toBe(false)
  expect(of({ kvstore: 'unavailable' })).toBe(false)
  expect(of({ database: 'unavailable' })).toBe(false)
})

it('the console data calls a known chain by its name', () => {
  const wax = '1064487b3cd1a897ce03ae5b6a865651747e2e152090f99c1d19d44e01aea5a4'
  expect(snapshot({ chainId: wax }).chain.name).toBe('wax-mainnet')
  expect(snapshot().chain.name).toBe('wax')
})

it('the console data contains neither the host name nor the port of a database server', () => {
  const data = snapshot()
  expect(data.health).toMatchObject({
    status: 'degraded',
    reasons: ['replica 1 is unavailable', 'a reader is 100 blocks behind'],
    replicas: ['unavailable', 'ready'],
  })
  expect(JSON.stringify(data)).not.toMatch(/inside|5432/)
})

it('the console data shows whether requests are answered while the primary is unavailable', () => {
  expect(snapshot({ database: 'unavailable' }).health).toMatchObject({
    database: 'unavailable',
    answers: false,
  })
  const servers = state.servers.map((server) => ({ ...server, isInUse: server.state === 'ready' }))
  expect(snapshot({ database: 'unavailable', servers }).health).toMatchObject({
    database: 'unavailable',
    answers: true,
  })
})

it('a state in the console data starts at the time that the database stores or, without a stored time, at the first poll that found the state', () => {
  const history = new ProgressHistory()
  const healthy = { ...state, servers: state.servers.slice(0, 1) }
  history.look(healthy, [], NOW_MS - 60_000)
  const reader2 = { ...reader, blockNum: 995, secondsSinceHeartbeat: 600 }
  history.look({ ...healthy, readers: [reader2] }, [], NOW_MS - 3_000)
  const observe = (change: Partial<HealthState>) =>
    takeSnapshot(facts, {
      state: { ...healthy, ...change },
      history,
      range: 'recent',
      database: null,
      nowMs: NOW_MS,
    })
  const silent = observe({ readers: [reader2] })
  expect(silent.readers[0]?.fork).toEqual({ to_block: 1_000, since: NOW_MS - 3_000 })
  expect(silent.health.since[silent.health.reasons.indexOf('reader main-1 is silent')]).toBe(NOW_MS - 600_000)
  history.look(
    { ...healthy, database: 'unavailable', servers: [] },
    ['the database is unavailable'],
    NOW_MS - 48_000,
  )
  const down = observe({ database: 'unavailable', servers: [] })
  expect(down.health.database_since).toBe(NOW_MS - 48_000)
  // A reader that indexes again from its first block falls to a lower position. The fall is not a fork.
  history.note([{ ...reader, blockNum: 100_000 }], NOW_MS)
  history.note([{ ...reader, blockNum: 5 }], NOW_MS)
  expect(history.fork('main-1')).toBeNull()
})
