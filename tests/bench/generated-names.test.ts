import { describe, expect, test } from 'vitest'
import { accountName, collectionName, mostAccounts } from '../../scripts/bench/generated/names.ts'
import { fullSizes, scaledSizes } from '../../scripts/bench/generated/sizes.ts'

const NAME = /^[a-z1-5.]{1,12}$/

describe('account and collection names of a generated database', () => {
  test('the largest database has distinct account and collection names that the chain allows', () => {
    const { accounts, collections } = scaledSizes(64)
    for (const [count, nameOf] of [
      [accounts, accountName],
      [collections, collectionName],
    ] as const) {
      const names = Array.from({ length: count }, (_, index) => nameOf(index))
      expect(new Set(names).size).toBe(count)
      expect(names.filter((name) => !NAME.test(name))).toEqual([])
    }
    expect(accounts).toBeLessThanOrEqual(mostAccounts)
  })

  test('scale factor 1 gives a generated database the full sizes; unsupported scale factors are refused', () => {
    expect(scaledSizes(1)).toEqual(fullSizes)
    for (const factor of [0, 65, NaN]) expect(() => scaledSizes(factor)).toThrow(RangeError)
  })
})
