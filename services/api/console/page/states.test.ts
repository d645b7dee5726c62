import { expect, it } from 'vitest'
import type { ConsoleData, ReaderView } from '../data.ts'
import { createStates } from './states.js'

const reader = {
  name: 'main',
  state: 'live',
  block_num: 1_000,
  lag_blocks: 0,
  eta_seconds: null,
  seconds_since_commit: 0.5,
  seconds_since_heartbeat: 0.5,
  nodes: [],
} as unknown as ReaderView
const healthy = { database: 'up', answers: true, catching_up: false }

function dataOf(time: number, change: Partial<ReaderView> = {}, health: object = {}): ConsoleData {
  return {
    time,
    readers: [{ ...reader, ...change }],
    health: { ...healthy, ...health },
  } as unknown as ConsoleData
}

it.each([
  [{}, {}, undefined, undefined],
  [
    {},
    { database: 'unavailable', answers: false },
    /^The database is unavailable\. Requests are refused/,
    'for 0 s',
  ],
  [{}, { database: 'unavailable' }, /^The primary database is unavailable\. A replica/, 'for 0 s'],
  [
    { state: 'stopped', seconds_since_heartbeat: 130 },
    {},
    /^Reader main is stopped at block 1,000\. The log of the filler names the cause\.$/,
    'for 2 min',
  ],
  [{ state: 'stopped', is_done: true, seconds_since_heartbeat: 130 }, {}, undefined, undefined],
  [
    { state: 'connecting', seconds_since_commit: 42 },
    {},
    /^The chain node does not send blocks to reader main\. It keeps trying\.$/,
    'for 42 s',
  ],
  [
    { state: 'catching-up', lag_blocks: 1_200, eta_seconds: 300 },
    { catching_up: true },
    /^Catching up with the chain\.$/,
    '1,200 blocks behind the head, about 5 min left, for 0 s',
  ],
])(
  'the console names the state of %j, %j in a sentence, with the time since',
  (change, health, text, note) => {
    const state = createStates().update(dataOf(0, change, health))
    expect(state?.note).toBe(note)
    if (text !== undefined) expect(state?.text).toMatch(text)
  },
)

it('the console names a fork while a reader is below where it was, and counts from its beginning', () => {
  const states = createStates()
  expect(states.update(dataOf(0))).toBeUndefined()
  expect(states.update(dataOf(2_000, { block_num: 990 }))).toMatchObject({
    text: 'The chain forked: reader main replaces the blocks up to 1,000.',
    note: 'now at block 990, for 0 s',
  })
  expect(states.update(dataOf(5_000, { block_num: 995 }))?.note).toBe('now at block 995, for 3 s')
  expect(states.update(dataOf(9_000, { block_num: 1_001 }))).toBeUndefined()
})
