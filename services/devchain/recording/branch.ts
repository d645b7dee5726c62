import type { ChainBlock } from '../chain/index.ts'
import type { Recording } from './read.ts'

/**
 * The blocks that the recorded chain ended with, forks resolved, without what the node said about its head
 * at that time: what a node that already holds them sends to a client that connects now.
 */
export function finalBranch(recordings: readonly Recording[]): ChainBlock[] {
  const branch: ChainBlock[] = []
  for (const recording of recordings) {
    for (const message of recording.messages) {
      const { num, id, prevId, ...payloads } = message.block
      const block = {
        num,
        id,
        prevId,
        block: payloads.block,
        traces: payloads.traces,
        deltas: payloads.deltas,
      }
      const first = branch[0]?.num ?? block.num
      branch.length = Math.max(0, Math.min(branch.length, block.num - first))
      branch.push(block)
    }
  }
  return branch
}
