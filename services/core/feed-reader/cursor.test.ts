import { expect, it } from 'vitest'
import type { FeedEntry } from '../feed/index.ts'
import { viewAfter } from './cursor.ts'

it.each([
  ['a block', { kind: 'block', block: { num: 7 } }, 7],
  ['a fork: the block before the first undone block', { kind: 'fork', block_num: 7 }, 6],
  ['a gap: the last block of the gap', { kind: 'gap', from_block: 3, to_block: 7 }, 7],
] as const)('viewAfter returns the highest block that a client has seen after %s', (_, entry, block) => {
  expect(viewAfter(entry as FeedEntry)).toBe(block)
})
