import { slotAt, slotOf } from './chain/index.ts'
import type { Chain } from './chain/index.ts'

/**
 * One hour in slots. A chain whose head is further behind the present was started at a fixed time, and need not catch
 * up.
 */
const MOST_LAG_SLOTS = 7200

/** Source of the time slots of generated blocks. */
export interface Clock {
  /** Slot of the next block. */
  next(): number
  /** Whether the next block's time has passed, but not more than MOST_LAG_SLOTS ago. */
  isBehind(): boolean
}

/**
 * Creates the clock of generated blocks. With `startTimeMs`, the first block has the slot of that time, and each block
 * the next slot. With `live`, the first `blocks` blocks have the slots before the present, and each later block has the
 * present slot. Otherwise each block has the slot after the slot of the head.
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
