import { expect, it } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

it('the byte budget gives no client more than its share, and all clients together no more than the total', () => {
  const budget = new ByteBudget({ maxBytes: 100 })
  expect(budget.take('one', 20)).toBe(true)
  expect(budget.take('one', 6)).toBe(false)
  for (const client of ['two', 'three', 'four']) expect(budget.take(client, 25)).toBe(true)
  expect(budget.take('five', 6)).toBe(false)
  expect(budget.bytes).toBe(95)
  budget.giveBack('two', 25)
  expect(budget.take('five', 25)).toBe(true)
})

it('a client waits for free bytes of the budget, and is refused at the time limit', async () => {
  const budget = new ByteBudget({ maxBytes: 100, maxBytesOfOne: 60 })
  budget.take('one', 60)
  const soon = budget.takeWithin('one', 30, 5_000)
  expect(await budget.takeWithin('one', 30, 5)).toBe(false)
  expect(await budget.takeWithin('two', 40, 5)).toBe(true)
  budget.giveBack('one', 60)
  expect(await soon).toBe(true)
  expect(budget.bytes).toBe(70)
})

it('at most eight requests of a client wait for free bytes of the budget; a ninth request is refused at once', async () => {
  const budget = new ByteBudget({ maxBytes: 10, maxBytesOfOne: 10 })
  budget.take('one', 10)
  const waiting = Array.from({ length: 8 }, () => budget.takeWithin('one', 1, 50))
  const startedMs = performance.now()
  expect(await budget.takeWithin('one', 1, 5_000)).toBe(false)
  expect(performance.now() - startedMs).toBeLessThan(1_000)
  expect(await Promise.all(waiting)).not.toContain(true)
})
