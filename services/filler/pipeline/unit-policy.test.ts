import { expect, test } from 'vitest'
import { isFull, isWorthCommitting, nextUnitOperations } from './unit-policy.ts'
import type { UnitLoad } from './unit-policy.ts'

const load: UnitLoad = { operations: 1_000, bytes: 2 ** 20, changedBlocks: 3, ageMs: 10, blocksBehind: 5_000 }

test('while the database is idle, the filler commits a unit that is large enough, old enough, or near the head of the chain', () => {
  expect(isWorthCommitting(load, 100)).toBe(false)
  expect(isWorthCommitting({ ...load, operations: 50_000 }, 100)).toBe(true)
  expect(isWorthCommitting({ ...load, changedBlocks: 100 }, 100)).toBe(true)
  expect(isWorthCommitting({ ...load, ageMs: 1_000 }, 100)).toBe(true)
  expect(isWorthCommitting({ ...load, blocksBehind: 1 }, 100)).toBe(true)
})

test('far behind the head, the filler commits a unit to an idle database only if the unit is larger or older than required near the head', () => {
  const far = { ...load, changedBlocks: 5_000, operations: 50_000, ageMs: 1_000, blocksBehind: 10_000 }
  expect(isWorthCommitting(far, 100)).toBe(false)
  expect(isWorthCommitting({ ...far, operations: 150_000 }, 100)).toBe(true)
  expect(isWorthCommitting({ ...far, ageMs: 3_000 }, 100)).toBe(true)
})

test('a commit unit grows while the database is busy, up to the limits of its memory and its write time', () => {
  expect(isFull(load, 150_000)).toBe(false)
  expect(isFull({ ...load, bytes: 32 * 2 ** 20 }, 150_000)).toBe(true)
  expect(isFull({ ...load, operations: 150_000 }, 150_000)).toBe(true)
})

test('the limit of operations in a commit unit follows the write speed of the database', () => {
  expect(nextUnitOperations(150_000, 100_000, 2_000)).toBe(500_000)
  expect(nextUnitOperations(150_000, 100_000, 40_000)).toBe(25_000)
  expect(nextUnitOperations(150_000, 100_000, 900_000)).toBe(15_000)
  expect(nextUnitOperations(150_000, 100_000, 0)).toBe(600_000)
  // The write speed of a small unit does not change the limit of operations.
  expect(nextUnitOperations(150_000, 200, 5_000)).toBe(150_000)
})
