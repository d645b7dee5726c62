import type { Chain } from '../chain/index.ts'
import type { Playback } from '../recording/playback.ts'
import type { Recording } from '../recording/read.ts'
import type { StatusAnswer } from './messages.ts'
import type { ShipNode } from './session.ts'

/** A real log has no trace entry for block 1, so the trace range begins at 2. */
const FIRST_TRACED_BLOCK = 2

/** Node interface of the chain for state-history sessions. With a playback, an idle session advances the recording. */
export function shipNodeOf(
  chain: Chain,
  identity: { abiText: string; chainId: string },
  playback: { source: Playback; recordings: readonly Recording[] } | null,
): ShipNode {
  const recordedStatus = playback?.recordings[0]?.status
  return {
    abiText: identity.abiText,
    status: () =>
      playback?.source.untouched === true && recordedStatus !== undefined
        ? statusFromBytes(recordedStatus, identity.chainId)
        : statusOf(chain, identity.chainId),
    head: () => chain.head,
    lib: () => chain.lib,
    first: () => chain.first,
    at: (num) => chain.at(num),
    advance: () => playback?.source.advance() ?? false,
  }
}

function statusOf(chain: Chain, chainId: string): StatusAnswer {
  const { head, lib, first } = chain
  const newest = chain.at(head.num)?.seen
  const end = head.num + 1
  return {
    // While a recording plays, the recorded head may be far ahead of the blocks played.
    head: newest?.head ?? head,
    lib: newest?.lib ?? lib,
    begin: first,
    end: Math.max(end, (newest?.head.num ?? 0) + 1),
    traceBegin: Math.max(first, FIRST_TRACED_BLOCK),
    chainId,
  }
}

function statusFromBytes(frame: Buffer, chainId: string): StatusAnswer {
  return {
    head: { num: frame.readUInt32LE(1), id: frame.subarray(5, 37) },
    lib: { num: frame.readUInt32LE(37), id: frame.subarray(41, 73) },
    traceBegin: frame.readUInt32LE(73),
    begin: frame.readUInt32LE(81),
    end: frame.readUInt32LE(85),
    chainId,
  }
}
