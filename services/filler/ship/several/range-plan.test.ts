import { expect, test } from 'vitest'
import { planSize } from './range-plan.ts'
import type { PlanFacts } from './range-plan.ts'

const facts: PlanFacts = {
  blockBytes: 300_000,
  bytesPerSecond: 40e6,
  share: 1,
  budgetBytes: 8 * 2 ** 20,
  largestBlocks: 1_000,
  blocksLeft: 1e6,
  nodes: 4,
}

test.each<[string, Partial<PlanFacts>, number]>([
  ['fills the budget of a range where the node is fast', {}, 27],
  ['is as long as the node sends in 0.4 s where it is slow', { bytesPerSecond: 3e6 }, 4],
  ['is a block where that takes longer', { bytesPerSecond: 1_000 }, 1],
  ['follows the weight', { share: 0.5 }, 13],
  ['grows four times at a time', { largestBlocks: 4, blockBytes: 1_000 }, 16],
  ['has a most, however small the blocks are', { blockBytes: 100, largestBlocks: 8_000 }, 8_192],
  ['shares the last blocks evenly', { blockBytes: 1_000, largestBlocks: 400, blocksLeft: 1_200 }, 300],
])('a range %s', (_, change, blocks) => {
  expect(planSize({ ...facts, ...change })).toBe(blocks)
})
