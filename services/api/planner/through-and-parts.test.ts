import { describe, expect, it } from 'vitest'
import { raw } from '../sql/index.ts'
import { choosePath, countedThrough } from './choose.ts'
import type { ListRequest } from './access-path.ts'
import { countOf } from './count.ts'
import type { Filter } from './filters/index.ts'
import { pageOf } from './statement.ts'

const source = {
  from: raw('things t'),
  alias: 't',
  key: 'id',
  indexes: [
    { name: 'pkey', columns: ['id'] },
    { name: 'giver', columns: ['giver', 'id'] },
    { name: 'taker', columns: ['taker', 'id'] },
  ],
}

function request(filters: readonly Filter[], rows = 1_000_000): ListRequest & { source: typeof source } {
  const order = { direction: 'DESC', segments: [{ rank: 0, column: 'id' }] } as const
  return { source, rows, filters, order, window: { offset: 0, limit: 100 } }
}

function side(column: string, rows: number): Filter {
  return {
    name: column,
    condition: raw(`t.${column} = 'me'`),
    rows,
    equals: { column, values: ['me'], type: 'text', count: 1 },
    isIndexed: true,
  }
}

function account(rows: number): Filter {
  return {
    name: 'account',
    condition: raw(`(t.giver = 'me' OR t.taker = 'me')`),
    rows,
    isIndexed: true,
    parts: [
      { filter: side('giver', rows / 2) },
      { filter: side('taker', rows / 2), apart: raw(`t.giver <> 'me'`) },
    ],
  }
}

function containing(rows: number, visits: number): Filter {
  return {
    name: 'contained',
    condition: raw('EXISTS (SELECT FROM parts p WHERE p.thing = t.id)'),
    rows,
    isIndexed: true,
    through: { from: raw('(SELECT x.* FROM parts p JOIN things x ON x.id = p.thing) t'), visits },
    visits: 6,
  }
}

describe('a filter with two disjoint parts', () => {
  it('a list with a filter of two disjoint parts merges two index scans if an index has the order for each part', () => {
    const path = choosePath(request([account(50_000)]))
    expect(path).toMatchObject({ kind: 'merge', expected: 200, budget: undefined })
    const { text } = pageOf(request([account(50_000)]), path).render()
    expect(text.match(/FROM things t/g)).toHaveLength(2)
    expect(text).toContain(`t.giver <> 'me'`)
  })

  it('if no index has the order of the list, a filter of two disjoint parts becomes one condition, and the matching rows are collected and sorted', () => {
    const order = { direction: 'DESC', segments: [{ rank: 0, column: 'weight' }] } as const
    const heaviest = { ...request([account(20)]), order }
    const path = choosePath(heaviest)
    expect(path.kind).toBe('collect')
    expect(pageOf(heaviest, path).render().text).toContain(`t.giver = 'me' OR t.taker = 'me'`)
  })

  it('the count of a filter with two disjoint parts adds the counts of the parts', () => {
    const { text } = countOf(request([account(20)])).render()
    expect(text.match(/count\(\*\)/g)).toHaveLength(2)
  })
})

describe('filters through another table', () => {
  it('a filter through another table makes this table the driving table if the table has few matches', () => {
    const filters = [containing(30, 10)]
    const path = choosePath(request(filters))
    expect(path).toMatchObject({ kind: 'collect', through: { name: 'contained' } })
    expect(pageOf(request(filters), path).render().text).toContain('JOIN things x')
    expect(countedThrough(1_000_000, filters)?.name).toBe('contained')
  })

  it('a filter through another table is checked per row if another filter matches fewer rows', () => {
    const filters = [containing(30_000, 10_000), side('giver', 10)]
    const path = choosePath(request(filters))
    expect(path).toMatchObject({ kind: 'collect' })
    expect(path).not.toHaveProperty('through')
    expect(pageOf(request(filters), path).render().text).toContain('EXISTS')
    expect(countedThrough(1_000_000, filters)).toBeUndefined()
  })

  it('a filter through another table is checked on a scan with a row budget if most rows match; an expensive check lowers the budget', () => {
    const scan = choosePath(request([containing(5_000, 12_000)], 100_000))
    expect(scan).toMatchObject({ kind: 'scan', expected: 2_000 })
    const budget = (scan as { budget: number }).budget
    expect(budget).toBeGreaterThanOrEqual(4_000)
    expect(budget).toBeLessThan(8_000)
  })
})
