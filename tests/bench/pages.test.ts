import { describe, expect, test } from 'vitest'
import { readParts } from '../../scripts/bench/generated/parts.ts'
import { budget, exponent, isAbove, pagesOf } from '../../scripts/bench/pages/result.ts'
import type { CountedRequest } from '../../scripts/bench/pages/result.ts'

/** A request that answers with ten rows and touches heap and index pages of one table. */
function counted(heap: number, index: number): CountedRequest {
  return {
    address: `/assets/v1/assets?heap=${heap}`,
    status: 200,
    rows: 10,
    touched: [
      { relation: 'assets.assets', access: 'heap', pages: heap },
      { relation: 'assets.assets_pkey', access: 'index', pages: index },
    ],
  }
}

describe('buffer pages that requests touch', () => {
  test('the growth exponent is 0 for a constant, 1 for proportional growth and 0.5 for a square root', () => {
    const factors = [0.1, 0.4, 1.6]
    expect(exponent([50, 50, 50], factors)).toBeCloseTo(0)
    expect(exponent([10, 40, 160], factors)).toBeCloseTo(1)
    expect(exponent([10, 20, 40], factors)).toBeCloseTo(0.5)
  })

  test('pagesOf averages the buffer pages by relation, names the request with the most pages, and returns the share of requests above the budget', () => {
    const limit = budget.constant + budget.perRow * 10
    const kind = pagesOf('inventory', [counted(limit - 5, 5), counted(limit - 4, 5)])
    expect(kind).toMatchObject({
      rows: 10,
      mean: limit + 0.5,
      above: 0.5,
      failures: 0,
      relations: { 'assets.assets heap': limit - 4.5, 'assets.assets_pkey index': 5 },
      worst: `/assets/v1/assets?heap=${limit - 4}`,
    })
    expect(isAbove(kind)).toBe(true)
    expect(isAbove(pagesOf('inventory', [counted(limit - 5, 5)]))).toBe(false)
  })
})

test('readParts sorts the parts of a generated database, and refuses an unknown part', () => {
  expect(readParts('market,logs')).toEqual(['logs', 'market'])
  expect(() => readParts('market,burns')).toThrow(RangeError)
})
