import { expect, it } from 'vitest'
import type { ConsoleData, ReaderView } from '../data.ts'
import { describeState } from './states.js'

const reader = {
  name: 'main',
  state: 'live',
  block_num: 1_000,
  lag_blocks: 0,
  eta_seconds: null,
  seconds_since_commit: 0.5,
  seconds_since_heartbeat: 0.5,
  nodes: [],
  fork: null,
} as unknown as ReaderView
const NOW_MS = 1_800_000_000_000
const healthy = { database: 'up', answers: true, catching_up: false, database_since: null, since: [] }
const down = { database: 'unavailable', database_since: NOW_MS - 48_000 }

function dataOf(time: number, change: Partial<ReaderView> = {}, health: object = {}): ConsoleData {
  return {
    time,
    readers: [{ ...reader, ...change }],
    health: { ...healthy, ...health },
  } as unknown as ConsoleData
}

it.each([
  [{}, {}, undefined, undefined],
  [{}, { ...down, answers: false }, /^The database is unavailable\. Requests are refused/, 'for 48 s'],
  [{}, down, /^The primary database is unavailable\. A replica/, 'for 48 s'],
  [
    { state: 'stopped', seconds_since_commit: null, seconds_since_heartbeat: 130 },
    {},
    /^Reader main is stopped at block 1,000\. The log of the filler names the cause\.$/,
    'for 2 min',
  ],
  [{ state: 'stopped', is_done: true, seconds_since_heartbeat: 130 }, {}, undefined, undefined],
  [
    { state: 'connecting', seconds_since_commit: 42 },
    {},
    /^The chain node does not send blocks to reader main\. The reader keeps trying\.$/,
    'for 42 s',
  ],
  [
    { state: 'catching-up', lag_blocks: 1_200, eta_seconds: 300 },
    { catching_up: true, since: [NOW_MS - 120_000] },
    /^Catching up with the chain\.$/,
    '1,200 blocks behind the head, about 5 min left, for 2 min',
  ],
])(
  'for the reader values %j and the health values %j, the console shows the expected state and its duration',
  (change, health, text, note) => {
    const state = describeState(dataOf(NOW_MS, change, health))
    expect(state?.note).toBe(note)
    if (text !== undefined) expect(state?.text).toMatch(text)
  },
)

it('the console reports a fork while a reader is below its earlier position, with the time since the fork', () => {
  const fork = { to_block: 1_000, since: NOW_MS - 3_000 }
  expect(describeState(dataOf(NOW_MS, { block_num: 990, fork }))).toMatchObject({
    kind: 'fork',
    text: 'The chain forked: reader main replaces the blocks up to 1,000.',
    note: 'now at block 990, for 3 s',
  })
})

it('the console shows the time since the last commit of a stopped reader, even if processes were restarted', () => {
  const stopped = { state: 'stopped', seconds_since_heartbeat: 4, seconds_since_commit: 7_200 }
  expect(describeState(dataOf(NOW_MS, stopped))?.note).toBe('for 2 h')
})
