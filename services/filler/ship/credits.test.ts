import { afterEach, describe, expect, test } from 'vitest'
import { Collector } from '../../../tests/ship/collector.ts'
import { Harness, until } from '../../../tests/ship/harness.ts'
import { CreditWindow } from './credits.ts'

const harness = new Harness()
afterEach(() => harness.close())

const MEGABYTE = 2 ** 20

describe('the window of credits', () => {
  test('the credit window opens with all credits and collects acknowledgements', () => {
    const credits = new CreditWindow(50, 20, 64 * MEGABYTE)
    expect(credits.open()).toBe(50)
    for (let message = 1; message <= 19; message++) {
      credits.spend(1_000)
      expect(credits.takeDue(false)).toBe(0)
    }
    credits.spend(1_000)
    expect(credits.takeDue(false)).toBe(20)
    expect(credits.credits).toBe(50)
  })

  test('the credit window acknowledges a reversible block at once, although its bytes are still held', () => {
    const credits = new CreditWindow(50, 20, 64 * MEGABYTE)
    credits.open()
    credits.spend(1_000)
    credits.hold(1_000)
    expect(credits.takeDue(true)).toBe(1)
  })

  test('the credit window holds acknowledgements back until blocks are released', () => {
    const credits = new CreditWindow(10, 5, 64 * MEGABYTE)
    credits.open()
    for (let message = 0; message < 10; message++) {
      credits.spend(1_000)
      credits.hold(1_000)
    }
    expect(credits.takeDue(false)).toBe(0)
    expect(credits.credits).toBe(0)
    credits.release(4, 4_000)
    expect(credits.takeDue(false)).toBe(4)
    credits.release(1, 1_000)
    expect(credits.takeDue(false)).toBe(0)
    credits.release(5, 5_000)
    expect(credits.takeDue(false)).toBe(6)
    expect(credits.credits).toBe(10)
  })

  test('the credit window shrinks as messages grow, so that they fit the budget', () => {
    const credits = new CreditWindow(50, 20, 64 * MEGABYTE)
    credits.open()
    let granted = 50
    for (let message = 0; message < 200; message++) {
      credits.spend(8 * MEGABYTE)
      granted += credits.takeDue(true) - 1
      expect(granted).toBe(credits.credits)
    }
    expect(credits.credits).toBe(8)
  })

  test('the credit window grants no credits until the held bytes fall below the byte budget', () => {
    const credits = new CreditWindow(50, 20, 4 * MEGABYTE)
    expect(credits.open()).toBe(16)
    for (let message = 0; message < 16; message++) {
      credits.spend(MEGABYTE)
      credits.hold(MEGABYTE)
      expect(credits.takeDue(true)).toBe(0)
    }
    credits.release(12, 12 * MEGABYTE)
    expect(credits.takeDue(true)).toBe(0)
    credits.release(2, 2 * MEGABYTE)
    expect(credits.takeDue(true)).toBe(2)
  })

  test('the credit window allows a single message that is larger than the budget', () => {
    const credits = new CreditWindow(50, 20, MEGABYTE)
    credits.open()
    while (credits.credits > 0) credits.spend(10 * MEGABYTE)
    credits.hold(10 * MEGABYTE)
    expect(credits.takeDue(true)).toBe(0)
    credits.release(1, 10 * MEGABYTE)
    expect(credits.takeDue(true)).toBe(1)
    expect(credits.takeDue(true)).toBe(0)
  })

  test('the credit window always has a credit left while every message is released at once, whatever the window size and the batch size', () => {
    for (const window of [1, 2, 3, 10, 1000]) {
      for (const batch of [1, 2, 30, 5000]) {
        const credits = new CreditWindow(window, batch, 64 * MEGABYTE)
        credits.open()
        for (let message = 0; message < 3 * window + 10; message++) {
          expect(credits.credits).toBeGreaterThan(0)
          credits.spend(900)
          credits.hold(900)
          credits.release(1, 900)
          credits.takeDue(false)
        }
      }
    }
  })

  test('the credit window never counts less than 0 held blocks or bytes, even if more are released than were held', () => {
    const credits = new CreditWindow(10, 5, MEGABYTE)
    credits.hold(10)
    credits.release(3, 500)
    expect([credits.heldBlocks, credits.heldBytes]).toEqual([0, 0])
  })
})

describe('a session with a window of credits', () => {
  test('a session acknowledges only blocks that the pipeline has released, and holds at most prefetchBlocks blocks', async () => {
    const { node, url } = await harness.node()
    node.extend(200)
    node.libNum = 200
    const collector = new Collector()
    collector.holds = true
    const { session } = harness.read(url, { prefetchBlocks: 20, minBlockConfirmation: 500 }, collector)
    await until('20 blocks', () => collector.blocks.length === 20)
    expect(node.connections[0]?.acks).toEqual([])
    while (collector.blocks.length < 200) {
      const before = collector.blocks.length
      session.release(10, 10 * (collector.received[0]?.bytes ?? 0))
      await until('more blocks', () => collector.blocks.length > before)
      expect(session.status().heldBlocks).toBeLessThanOrEqual(20)
    }
    expect(Math.max(...(node.connections[0]?.acks ?? []))).toBeLessThanOrEqual(10)
  })

  test('a session never has zero credits near the head while the pipeline is slow', async () => {
    const { node, url } = await harness.node()
    node.extend(2)
    const collector = new Collector()
    collector.holds = true
    const { session } = harness.read(url, { prefetchBlocks: 10 }, collector)
    await until('2 blocks', () => collector.blocks.length === 2)
    await until('their acknowledgement', () => node.connections[0]!.credits === 10)
    for (let num = 3; num <= 100; num++) {
      node.extend(1)
      await until(`block ${num}`, () => collector.blocks.length === num)
      await until('its acknowledgement', () => node.connections[0]!.credits === 10)
    }
    expect(node.connections[0]?.lowestCredits).toBe(8)
    expect(session.status().heldBlocks).toBe(100)
  })

  test('a session bounds the held bytes, also across reconnects', async () => {
    const payload = Buffer.alloc(300_000)
    const { node, url } = await harness.node({ tamper: (block) => ({ ...block, deltas: payload }) })
    node.extend(100)
    node.libNum = 100
    const collector = new Collector()
    collector.holds = true
    const { session } = harness.read(url, { prefetchBlocks: 50, maxBytesInFlight: 3_000_000 }, collector)
    await until('the budget is full', () => session.status().heldBytes >= 3_000_000)
    expect(session.status().heldBytes).toBeLessThan(4_000_000)
    node.connections[0]?.socket.terminate()
    await until('a new connection', () => (node.connections[1]?.requests.length ?? 0) > 0)
    expect(node.connections[1]?.request?.maxInFlight).toBe(1)
    collector.holds = false
    session.release(session.status().heldBlocks, session.status().heldBytes)
    await until('100 blocks', () => collector.blocks.length === 100)
  })
})
