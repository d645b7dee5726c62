import { expect, it } from 'vitest'
import type { ReaderState } from '../health/index.ts'
import { ProgressHistory } from './history.ts'

const START_MS = 1_800_000_000_000

function reader(blockNum: number, headBlock = 10_000): ReaderState {
  return {
    name: 'main-1',
    startBlock: 1,
    contracts: [],
    blockNum,
    blockTimeMs: START_MS,
    headBlock,
    headTimeMs: START_MS,
    irreversibleBlock: headBlock,
    mode: 'catching-up',
    blocksPerSecond: 1,
    secondsSinceHeartbeat: 0,
    secondsSinceCommit: 0,
    secondsSinceMessage: 0.5,
    secondsSinceBlock: 0.5,
    gaps: [],
    historySince: null,
    acceptedGaps: [],
    nodes: [],
    problem: undefined,
  }
}

/** Records one position of the reader a second, from second `fromSecond` on. The positions are `blocks`. */
function watch(history: ProgressHistory, blocks: readonly number[], fromSecond = 0): void {
  for (const [second, block] of blocks.entries()) {
    history.note([reader(block)], START_MS + (fromSecond + second) * 1_000)
  }
}

function linesOf(history: ProgressHistory, range: 'recent' | 'day' = 'recent') {
  const { times, rates } = history.rates('main-1', range)
  return times.map((time, place) => [time - START_MS / 1_000, rates[place]])
}

it('the speed history returns the blocks per second of each interval, including the first interval', () => {
  const history = new ProgressHistory()
  watch(history, [100, 110, 120, 130, 160, 190, 220, 250])
  expect(linesOf(history)).toEqual([
    [0, null],
    [1, 10],
    [4, 16.7],
    [7, 30],
  ])
})

it('the speed history spreads a commit over the time since the previous commit', () => {
  const history = new ProgressHistory()
  watch(history, [100, 200, 200, 200, 200, 200, 700, 700, 700, 700, 1_100])
  expect(linesOf(history)).toEqual([
    [0, null],
    [1, 100],
    [6, 100],
    [10, 100],
  ])
})

it('the speed history returns 0 while no block is committed', () => {
  const history = new ProgressHistory()
  watch(history, [100, 102, ...Array.from({ length: 45 }, () => 102)])
  expect(linesOf(history)).toEqual([
    [0, null],
    [1, 2],
    [21, 0],
    [41, 0],
  ])
})

it('if a poll shows a reader for the first time, the speed history counts all blocks of the reader as indexed since the previous poll', () => {
  const history = new ProgressHistory()
  history.note([], START_MS)
  history.note([reader(964)], START_MS + 1_000)
  expect(linesOf(history)).toEqual([
    [0, null],
    [1, 964],
  ])
})

it('the speed history does not count a rollback as speed', () => {
  const history = new ProgressHistory()
  watch(history, [100, 90])
  expect(linesOf(history).at(-1)).toEqual([1, 0])
})

it('the speed history has no rates for times without polls', () => {
  const history = new ProgressHistory()
  watch(history, [100, 102])
  watch(history, [5_000, 5_002], 60)
  expect(linesOf(history)).toEqual([
    [0, null],
    [1, 2],
    [60, null],
    [61, 2],
  ])
})

it('the speed history retains ten minutes in steps of three seconds, and a day in steps of a minute', () => {
  const history = new ProgressHistory()
  const seconds = 90_000
  watch(
    history,
    Array.from({ length: seconds }, (_, second) => second * 2),
  )
  for (const [range, points, span] of [
    ['recent', 200, 597],
    ['day', 1_440, 86_340],
  ] as const) {
    const lines = linesOf(history, range)
    expect(lines.length).toBeGreaterThanOrEqual(points)
    expect(lines.length).toBeLessThanOrEqual(points + 1)
    expect(lines.at(-1)![0]! - lines[0]![0]!).toBeGreaterThanOrEqual(span)
    expect(new Set(lines.map(([, rate]) => rate))).toEqual(new Set([2]))
  }
})

it('the speed history estimates the time left relative to a moving head', () => {
  const history = new ProgressHistory()
  for (let second = 0; second <= 10; second++) {
    history.note([reader(1_000 + second * 102, 9_000 + second * 2)], START_MS + second * 1_000)
  }
  expect(history.secondsLeft('main-1', 7_000)).toBe(70)
  expect(history.secondsLeft('main-1', 0)).toBe(0)
})

it('the speed history estimates no time left without progress or without enough polls', () => {
  const slow = new ProgressHistory()
  for (let second = 0; second <= 10; second++) {
    slow.note([reader(1_000 + second, 9_000 + second * 2)], START_MS + second * 1_000)
  }
  expect(slow.secondsLeft('main-1', 8_000)).toBeNull()
  const young = new ProgressHistory()
  watch(young, [100, 200])
  expect(young.secondsLeft('main-1', 8_000)).toBeNull()
  expect(young.secondsLeft('unknown', 8_000)).toBeNull()
})

it('the speed history drops readers without recent polls', () => {
  const history = new ProgressHistory()
  for (let number = 0; number < 100; number++) {
    history.note([{ ...reader(1), name: `reader-${number}` }], START_MS + number * 1_000)
    history.note([{ ...reader(3), name: `reader-${number}` }], START_MS + number * 1_000 + 999)
  }
  expect(history.rates('reader-0', 'recent').rates).toEqual([])
  expect(history.rates('reader-99', 'recent').rates).not.toEqual([])
})
