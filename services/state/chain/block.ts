import { aboveHead, aboveIrreversible, insideGap } from '../answers/index.ts'
import type { Position } from './position.ts'

/**
 * Resolves the requested block number; undefined means the newest block.
 * @throws Refusal 400.
 */
export function resolveBlock(
  requested: bigint | undefined,
  position: Position,
  isIrreversibleOnly = false,
): number {
  const { head, irreversible, nodeHead } = position
  if (requested === undefined) return isIrreversibleOnly ? irreversible.num : head.num
  if (requested > BigInt(head.num)) throw aboveHead(requested, nodeHead, head.num)
  if (isIrreversibleOnly && requested > BigInt(irreversible.num))
    throw aboveIrreversible(requested, irreversible.num)
  const gap = position.gaps.find(({ first, last }) => requested >= BigInt(first) && requested <= BigInt(last))
  if (gap) throw insideGap(requested, gap.first, gap.last)
  return Number(requested)
}
