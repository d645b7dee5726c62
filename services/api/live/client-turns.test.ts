import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ClientTurns } from './client-turns.ts'

/**
 * Waits for two turns of the event loop: for all pending callbacks, and for the callbacks that the pending ones defer.
 */
async function settle(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

it('client addresses that wait to resume take turns, whatever the number of clients of each address', async () => {
  const turns = new ClientTurns()
  const order: string[] = []
  const ends: (() => void)[] = []
  const ask = (name: string): void => {
    turns.ask(name[0]!, () => {
      order.push(name)
      return new Promise((resolve) => ends.push(resolve))
    })
  }
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'c1']) ask(name)
  expect(order).toEqual(['a1', 'a2', 'a3', 'a4'])
  expect([turns.waiting, turns.isBusy]).toEqual([5, true])
  for (let at = 0; at < 5; at++) {
    ends[at]!()
    await settle()
  }
  expect(order.slice(4)).toEqual(['a5', 'b1', 'c1', 'a6', 'b2'])
})
