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
  ['fills the byte budget if the node is fast', {}, 27],
  ['has the blocks that a slow node sends in 0.4 s', { bytesPerSecond: 3e6 }, 4],
  ['has one block if the node needs longer than 0.4 s for a block', { bytesPerSecond: 1_000 }, 1],
  ['is half as long for half the weight of the node', { share: 0.5 }, 13],
  ['has at most 4 times the blocks of the largest range so far', { largestBlocks: 4, blockBytes: 1_000 }, 16],
  ['has at most 8192 blocks, however small the blocks are', { blockBytes: 100, largestBlocks: 8_000 }, 8_192],
  ['is an equal share of the last blocks', { blockBytes: 1_000, largestBlocks: 400, blocksLeft: 1_200 }, 300],
])('a planned range of blocks %s', (_, change, blocks) => {
  expect(planSize({ ...facts, ...change })).toBe(blocks)
})
