import type { ChainBlock } from '../chain/index.ts'
import type { Recording } from './read.ts'

/**
 * The final blocks of the recordings, with forks resolved and without the recorded heads: the blocks that a node with
 * the whole history sends to a new client.
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
