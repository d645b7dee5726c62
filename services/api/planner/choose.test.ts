import { describe, expect, it } from 'vitest'
import { raw } from '../sql/index.ts'
import { choosePath } from './choose.ts'
import type { ListRequest, ScanPath } from './access-path.ts'
import { estimateRows } from './filters/index.ts'
import type { Filter } from './filters/index.ts'
import type { Segment } from './sources/index.ts'

const ROWS = 1_000_000

function equal(column: string, rows: number, values: readonly string[] = ['x']): Filter {
  return {
    name: column,
    condition: raw(`a.${column} = 'x'`),
    rows,
    equals: { column, values, type: 'text', count: values.length },
    columns: [column],
    isIndexed: true,
  }
}

function check(name: string, rows: number): Filter {
  return { name, condition: raw('a.flag'), rows, isIndexed: false }
}

const request = (filters: readonly Filter[], column = 'id', limit = 100): ListRequest => ({
  source: {
    alias: 'a',
    key: 'id',
    indexes: [
      { name: 'pkey', columns: ['id'] },
      { name: 'owner', columns: ['owner', 'id'] },
      { name: 'schema', columns: ['schema', 'id'] },
      { name: 'schema_time', columns: ['schema', 'time', 'id'] },
      { name: 'time', columns: ['time', 'id'] },
    ],
  },
  rows: ROWS,
  filters,
  order: { direction: 'DESC', segments: [{ rank: 0, column }] },
  window: { offset: 0, limit },
})

describe('the access path of a list', () => {
  it('the access path of a list without filters is a scan of the primary key index', () => {
    const path = choosePath(request([]))
    expect([path.kind, path.expected, (path as ScanPath).budget]).toEqual(['scan', 100, undefined])
  })

  it('the access path of a list is an index scan with equality on the columns before the sort column', () => {
    const path = choosePath(request([equal('owner', 5_000)])) as ScanPath
    expect([path.kind, path.expected]).toEqual(['scan', 100])
    expect(path.scans[0]!.prefix.map(({ column }) => column)).toEqual(['owner'])
  })

  it('a partial index is scanned only if a filter has the one value that all rows of the index have', () => {
    const { source, ...rest } = request([], 'name')
    const partial = {
      name: 'live_name',
      columns: ['owner', 'name', 'id'],
      only: { column: 'state', value: 1 },
    }
    const pathOf = (states: readonly number[]) =>
      choosePath({
        ...rest,
        source: { ...source, indexes: [partial] },
        filters: [
          equal('owner', 5_000),
          {
            ...equal('state', 100_000),
            equals: { column: 'state', values: states, type: 'integer', count: states.length },
          },
        ],
      })
    const path = pathOf([1]) as ScanPath
    expect([path.kind, path.expected, path.scans[0]!.checks]).toEqual(['scan', 100, []])
    // The value is in the text of the statement: PostgreSQL does not use a partial index for a parameter.
    expect(path.scans[0]!.segment.conditions!.map((condition) => condition.render())).toEqual([
      { text: 'a.state = 1', values: [] },
    ])
    expect([pathOf([2]).kind, pathOf([1, 2]).kind]).toEqual(['collect', 'collect'])
  })

  it('the access path of a list merges one index range for each of several values', () => {
    const path = choosePath(request([equal('schema', 9_000, ['x', 'y', 'z'])], 'time')) as ScanPath
    expect([path.kind, path.scans[0]!.ranges]).toEqual(['merge', 3])
  })

  it('the access path of a list merges a hundred index ranges, and reads few rows of each range', () => {
    const schemas = Array.from({ length: 100 }, (_, place) => `s${place}`)
    const filters = [equal('schema', 20_000, schemas), check('flag', 900_000)]
    const path = choosePath(request(filters, 'time')) as ScanPath
    expect([path.kind, path.scans[0]!.ranges]).toEqual(['merge', 100])
    expect(path.expected).toBeLessThan(1_000)
  })

  it('the access path of a list collects and sorts if few rows match, and names the filter that finds the rows', () => {
    const path = choosePath(request([equal('owner', 300)], 'time'))
    expect(path.kind).toBe('collect')
    expect(path.reason).toContain('found by owner')
  })

  it('the access path of a list scans in the wanted order if many rows match, with a row budget', () => {
    const path = choosePath(request([equal('owner', 200_000)], 'time')) as ScanPath
    expect([path.kind, path.scans[0]!.prefix, path.budget]).toEqual(['scan', [], 65_536])
    expect(path.expected).toBe(500)
  })

  it('the access path of a list lets each of many ranges read four times its share of the row budget', () => {
    const of = (count: number): number => {
      const schemas = Array.from({ length: count }, (_, index) => `s${index}`)
      const filters = [{ ...equal('schema', 2_000, schemas), isIndexed: false }, equal('owner', 200_000)]
      return (choosePath(request(filters, 'time', 10)) as ScanPath).budget!
    }
    // Eight ranges are one merged stream: the row budget of 50,000 rows is rounded up to 65,536. Sixteen ranges have
    // higher start-up costs: a budget of 19,700 rows, 1,231 for each range. SKEW quadruples the budget of each range to
    // 4,924 rows, which are rounded up to 8,192.
    expect([of(8), of(16)]).toEqual([65_536, 8_192])
  })

  it('the access path of a list has no row budget if collecting is not possible', () => {
    expect((choosePath(request([check('flag', 10)])) as ScanPath).budget).toBeUndefined()
  })

  it('the access path of a list changes from a scan to collecting if far fewer rows match than estimated', () => {
    const first = request([equal('owner', 20_000), check('flag', 900_000)], 'time')
    const path = choosePath(first) as ScanPath
    expect(path.kind).toBe('scan')
    expect(choosePath({ ...first, seen: { most: path.most, read: path.budget!, hits: 0 } }).kind).toBe(
      'collect',
    )
  })

  it('the access path of a list stays a scan, without a row budget, if the rows read so far show that a scan is the cheapest', () => {
    const first = request([equal('owner', 300_000)], 'time')
    const again = choosePath({ ...first, seen: { most: ROWS, read: 1_000, hits: 60 } }) as ScanPath
    expect([again.kind, again.budget]).toEqual(['scan', undefined])
  })

  it('the access path of a list keeps the index ranges of a filter after a first scan that found matches in the ranges', () => {
    const first = request([equal('schema', 20_000, ['x', 'y', 'z']), check('flag', 500_000)], 'time')
    const { most } = choosePath(first) as ScanPath
    const again = choosePath({ ...first, seen: { most, read: 4_096, hits: 90 } }) as ScanPath
    expect([most, again.scans[0]!.prefix.length, again.most]).toEqual([20_000, 1, 20_000])
  })

  it('the access path of a list skips a filter that another filter implies, unless the driving table has applied the other filter', () => {
    const filters = [equal('template', 90_000), { ...equal('schema', 400_000), impliedBy: 'template' }]
    const checksOf = (segment: Partial<Segment>): string[] => {
      const order = { direction: 'DESC', segments: [{ rank: 0, column: 'id', ...segment }] } as const
      const path = choosePath({ ...request(filters), order }) as ScanPath
      return path.scans[0]!.checks.map(({ name }) => name)
    }
    const driving = {
      query: () => raw(''),
      applied: new Set(['template']),
      rows: 100,
      drivingRows: 1,
      rowsOfEach: 100,
    }
    expect([checksOf({}), checksOf({ driving })]).toEqual([['template'], ['schema']])
  })

  it('the row budget of a list does not depend on the number of driving rows', () => {
    const budgetOf = (drivingRows: number): number | undefined => {
      const driving = {
        query: () => raw(''),
        applied: new Set<string>(),
        rows: ROWS,
        drivingRows,
        rowsOfEach: 100,
      }
      const order = { direction: 'DESC', segments: [{ rank: 0, column: 'price', driving }] } as const
      return (choosePath({ ...request([equal('owner', 900_000)]), order }) as ScanPath).budget
    }
    expect(budgetOf(0)).toBeGreaterThan(0)
    expect(budgetOf(100_000)).toBe(budgetOf(0))
  })

  it('the access path of a list collects the rows from an index alone, without the table, if the index has the columns of the order and of all filters', () => {
    const first = request([equal('owner', 5_000), equal('schema', 50_000)], 'time')
    const owned = { name: 'owned', columns: ['owner', 'schema', 'id'], includes: ['time'] }
    const source = { ...first.source, indexes: [...first.source.indexes, owned] }
    expect(choosePath({ ...first, source })).toMatchObject({
      kind: 'collect',
      expected: 250,
      scanned: first.filters,
    })
    const other = { ...first, source, filters: [...first.filters, check('flag', 900_000)] }
    expect(choosePath(other)).not.toHaveProperty('scanned')
  })

  it('an index scan checks a filter by `found`, the equivalent condition on columns of the index', () => {
    const found = raw('a.schema = 1')
    const filters = [equal('owner', 500_000), { ...equal('schema', 900_000), columns: ['collection'], found }]
    const first = request(filters, 'time')
    const time = { name: 'time', columns: ['time', 'id'], includes: ['owner', 'schema'] }
    const path = choosePath({ ...first, source: { ...first.source, indexes: [time] } }) as ScanPath
    expect(path.scans[0]!.checks.map(({ condition }) => condition)).toContain(found)
  })

  it('the access path of a list collects and sorts if no index has the order', () => {
    expect(choosePath(request([equal('owner', 900_000)], 'price')).kind).toBe('collect')
  })
})

describe('estimated rows', () => {
  it('the row estimate of independent filters multiplies the selectivities of the filters', () => {
    expect(estimateRows(1_000, [check('one', 100), check('other', 500)])).toBe(50)
  })

  it('the row estimate of filters that imply each other is that of the most selective filter', () => {
    const of = (rows: number): Filter => ({ ...check('each', rows), group: 'template' })
    expect(estimateRows(1_000, [of(100), of(10), check('other', 500)])).toBe(5)
  })
})
