import type { BlockPosition, ProtocolCodec } from '../types.ts'
import type { NodeLink } from './node-link.ts'

/** State of the indexed chain. */
export interface BranchFacts<P extends ProtocolCodec> {
  readonly links: readonly NodeLink<P>[]
  readonly followed: NodeLink<P>
  /** Last irreversible block of the streaming node. */
  readonly lib: number
  /** Newest block that came from it. */
  readonly last: number
}

/** Records for each node whether its head is one of our blocks, and returns whether the streaming node has been on another branch than the others for `allowedMs`: most of them, or as many as agree with it while they are further, as nodes
 * decide it themselves by the last irreversible block and the length.
 */
export function judgeBranches<P extends ProtocolCodec>(
  facts: BranchFacts<P>,
  positions: readonly BlockPosition[],
  allowedMs: number,
  now: number,
): boolean {
  const { links, followed, lib, last } = facts
  let agree = 1
  const against: NodeLink<P>[] = []
  for (const link of links) {
    if (link === followed || !link.isFresh || link.statusHead === null) continue
    const { num, id } = link.statusHead
    const first = positions[0]?.num ?? 0
    const ours = num > last ? undefined : positions[num - first]
    if (ours?.num === num) link.otherBranchSince = ours.id === id ? null : (link.otherBranchSince ?? now)
    if (link.otherBranchSince === null) agree += 1
    else if (now - link.otherBranchSince >= allowedMs) against.push(link)
  }
  if (against.length === 0 || against.length < agree) return false
  if (against.length > agree) return true
  return against.some(
    (link) => link.libNum > lib || (link.libNum === lib && (link.head?.num ?? 0) > last + 1),
  )
}
