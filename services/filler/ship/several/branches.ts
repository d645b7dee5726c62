import type { BlockPosition, ProtocolCodec } from '../types.ts'
import type { NodeLink } from './node-link.ts'

/** Input of `judgeBranches`: the connections to all nodes and the position of the stream. */
export interface BranchFacts<P extends ProtocolCodec> {
  readonly links: readonly NodeLink<P>[]
  readonly followed: NodeLink<P>
  /** Last irreversible block of the streaming node. */
  readonly lib: number
  /** Newest block received from the streaming node. */
  readonly last: number
}

/**
 * Updates `otherBranchSince` of each node connection. Returns whether the session has to leave the streaming node.
 *
 * A node opposes the stream if the node has been on another branch for `allowedMs`. The session has to leave the
 * streaming node in these cases:
 * - More nodes oppose the stream than agree with it. The streaming node counts as agreeing.
 * - As many nodes oppose as agree, and an opposing node has a higher last irreversible block.
 * - As many nodes oppose as agree, an opposing node has the same last irreversible block, and its head is more than one
 *   block ahead of the stream.
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
