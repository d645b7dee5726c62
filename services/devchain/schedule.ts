import { slotAt, slotOf } from './chain/index.ts'
import type { Chain } from './chain/index.ts'

/** An hour: a start further back is a fixed time, not a chain that fell behind. */
const MOST_LAG_SLOTS = 7200

/** Where the time slots of generated blocks come from. */
export interface Clock {
  /** Slot of the next block. */
  next(): number
  /** True when the time of the next block is past, but not too long ago to catch up. */
  isBehind(): boolean
}

/**
 * The slots of generated blocks. With `startTimeMs` they are counted from there; with `live` they are the
 * present, led in by `blocks` blocks produced at start; else they follow the head without a gap.
 */
export function createClock(
  chain: Chain,
  options: { startTimeMs: number | undefined; live: boolean; blocks: number; nowMs: () => number },
): Clock {
  const base = chain.head.num
  const { startTimeMs, live, blocks, nowMs } = options
  const startSlot = startTimeMs === undefined ? undefined : slotAt(startTimeMs)
  const leadInSlot = slotAt(nowMs()) - blocks
  const next = (): number => {
    const head = chain.at(chain.head.num)
    const following = head === undefined ? slotAt(nowMs()) : slotOf(head) + 1
    const made = chain.head.num - base
    if (startSlot !== undefined) return Math.max(following, startSlot + made)
    if (!live) return following
    return Math.max(following, made < blocks ? leadInSlot + made : slotAt(nowMs()))
  }
  const isBehind = (): boolean => {
    const lagSlots = slotAt(nowMs()) - next()
    return lagSlots > 0 && lagSlots < MOST_LAG_SLOTS
  }
  return { next, isBehind }
}
