import { expect, test } from 'vitest'
import { Chain, slotAt } from '../../services/devchain/chain/index.ts'
import { benchBlocks } from '../../scripts/lab/index.ts'
import { createClock } from '../../services/devchain/schedule.ts'

const nowMs = Date.UTC(2030, 5, 1)

/** A chain of `length` blocks. The first block is in the slot after `slot`. */
function chainOf(length: number, slot: number): Chain {
  const chain = new Chain({ libLagBlocks: 2, retainBytes: 1e9 })
  for (const block of benchBlocks('empty', length, { num: 0, id: Buffer.alloc(32), slot }))
    chain.append(block)
  return chain
}

test('without live blocks, the next slot of the chain clock is the slot after the head block', () => {
  const chain = chainOf(4, 1000)
  const clock = createClock(chain, { startTimeMs: undefined, live: false, blocks: 3, nowMs: () => nowMs })
  expect(clock.next()).toBe(1005)
})

test('the blocks produced at the start of the devchain get the slots before the current time; live blocks get the current slot', () => {
  const chain = chainOf(4, 1000)
  const clock = createClock(chain, { startTimeMs: undefined, live: true, blocks: 2, nowMs: () => nowMs })
  const slots = [1, 2, 3].map((made) => {
    const slot = clock.next()
    const [block] = benchBlocks('empty', 1, { ...chain.head, slot: slot - 1 })
    chain.append(block!)
    return [made, slot]
  })
  expect(slots).toEqual([
    [1, slotAt(nowMs) - 2],
    [2, slotAt(nowMs) - 1],
    [3, slotAt(nowMs)],
  ])
  expect(clock.isBehind()).toBe(false)
})

test('a chain clock with a fixed start time counts slots from that time, and reports whether the chain is behind real time', () => {
  const chain = chainOf(4, 1000)
  let now = nowMs + 2000
  const clock = createClock(chain, { startTimeMs: nowMs, live: true, blocks: 0, nowMs: () => now })
  expect(clock.next()).toBe(slotAt(nowMs))
  expect(clock.isBehind()).toBe(true)
  now = nowMs
  expect(clock.isBehind()).toBe(false)
  now = nowMs + 24 * 3600_000
  expect(clock.isBehind()).toBe(false)
})
