import { describe, expect, it } from 'vitest'
import { raw, sql } from '../../sql/index.ts'
import { foundConditions, haveOnePlan } from './filter.ts'
import type { Filter } from './filter.ts'

const indexes = [{ name: 'held', columns: ['owner', 'schema', 'template'] }]

function equal(column: string, values: readonly string[] = ['x'], more: Partial<Filter> = {}): Filter {
  return {
    name: column,
    condition: raw(column),
    rows: 10,
    equals: { column, values, type: 'text', count: values.length },
    isIndexed: true,
    ...more,
  }
}

function texts(filters: readonly Filter[]): string[] {
  return foundConditions(filters).map((condition) => condition.render().text)
}

describe('a generic plan for filters', () => {
  it('one generic plan is used for a request without a filter, and for a request with one value for a single filter', () => {
    expect([haveOnePlan([], indexes), haveOnePlan([equal('owner')], indexes)]).toEqual([true, true])
    expect(haveOnePlan([equal('owner', ['x', 'y'])], indexes)).toBe(false)
  })

  it('one generic plan is used for a request with one value of each leading column of an index', () => {
    expect(haveOnePlan([equal('schema'), equal('owner')], indexes)).toBe(true)
    expect(haveOnePlan([equal('owner'), equal('schema', ['x', 'y'])], indexes)).toBe(false)
    expect(haveOnePlan([equal('owner'), equal('template')], indexes)).toBe(false)
  })

  it('one generic plan is used if the filter columns, including the columns of `alsoEqual`, are the leading columns of an index', () => {
    const template = equal('template', ['x'], { alsoEqual: ['schema'] })
    expect(haveOnePlan([equal('owner'), template], indexes)).toBe(true)
  })

  it('no generic plan is used if the values come from a subquery, or if a condition is not an equality', () => {
    const values = sql`SELECT 1`
    const queried = equal('schema', [], { equals: { column: 'schema', values, type: 'bigint', count: 1 } })
    const other: Filter = { name: 'flag', condition: raw('flag'), rows: 10, isIndexed: false }
    expect([
      haveOnePlan([equal('owner'), queried], indexes),
      haveOnePlan([equal('owner'), other], indexes),
    ]).toEqual([false, false])
  })
})

describe('index conditions of filters', () => {
  it('index conditions omit a filter that another filter of the list implies', () => {
    const implied = equal('schema', ['x'], { impliedBy: 'template' })
    expect(texts([implied, equal('template')])).toEqual(['template'])
    expect(texts([implied, equal('owner')])).toEqual(['schema', 'owner'])
  })

  it('the index condition of a filter is `found`, the equivalent condition that an index serves', () => {
    expect(texts([equal('owner', ['x'], { found: raw('spelled') })])).toEqual(['spelled'])
  })

  it('a filter that matches far more rows than another filter is checked by its `condition`, which uses no index', () => {
    const schema = { found: raw('spelled'), rows: 400_000 }
    expect(texts([equal('template', ['x'], { rows: 4_000 }), equal('schema', ['x'], schema)])).toEqual([
      'template',
      'schema',
    ])
    expect(texts([equal('template', ['x'], { rows: 40_000 }), equal('schema', ['x'], schema)])).toEqual([
      'template',
      'spelled',
    ])
  })
})
