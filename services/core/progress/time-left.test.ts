import { expect, it } from 'vitest'
import { TimeLeft } from './time-left.ts'

it('at a steady rate, the estimated time until the head is exact, including the blocks that the chain adds meanwhile', () => {
  const left = new TimeLeft()
  for (let second = 0; second <= 10; second++)
    left.note(second * 1_000, 1_000 + second * 102, 9_020 + second * 2)
  expect(left.seconds).toBeCloseTo(70.2, 1)
})

it('the estimated time until the head is unknown after too short a time, and without progress', () => {
  const young = new TimeLeft()
  young.note(0, 0, 1_000)
  young.note(1_000, 100, 1_000)
  expect(young.seconds).toBeNull()
  const slow = new TimeLeft()
  for (let second = 0; second <= 10; second++) slow.note(second * 1_000, second, 9_000 + second * 2)
  expect(slow.seconds).toBeNull()
})

it('the estimated time until the head changes little from second to second, also when the rate changes tenfold', () => {
  const left = new TimeLeft()
  const head = 1_000_000
  let block = 0
  let before: number | null = null
  for (let second = 0; second < 200; second++) {
    block += Math.floor(second / 10) % 2 === 0 ? 1_000 : 100
    left.note(second * 1_000, block, head)
    const now = left.seconds
    if (before !== null && now !== null) expect(Math.abs(now - before) / before).toBeLessThan(0.1)
    before = now
  }
  expect(before).not.toBeNull()
})
