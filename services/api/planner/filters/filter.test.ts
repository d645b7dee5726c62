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

describe('one plan for all values of filters', () => {
  it('one plan for all values serves one value of one column, and no filter', () => {
    expect([haveOnePlan([], indexes), haveOnePlan([equal('owner')], indexes)]).toEqual([true, true])
    expect(haveOnePlan([equal('owner', ['x', 'y'])], indexes)).toBe(false)
  })

  it('one plan for all values serves one value of each column with which an index begins', () => {
    expect(haveOnePlan([equal('schema'), equal('owner')], indexes)).toBe(true)
    expect(haveOnePlan([equal('owner'), equal('schema', ['x', 'y'])], indexes)).toBe(false)
    expect(haveOnePlan([equal('owner'), equal('template')], indexes)).toBe(false)
  })

  it('one plan for all values counts the columns that a filter compares in addition', () => {
    const template = equal('template', ['x'], { alsoEqual: ['schema'] })
    expect(haveOnePlan([equal('owner'), template], indexes)).toBe(true)
  })

  it('one plan for all values does not serve values that a query returns, nor other conditions', () => {
    const values = sql`SELECT 1`
    const queried = equal('schema', [], { equals: { column: 'schema', values, type: 'bigint', count: 1 } })
    const other: Filter = { name: 'flag', condition: raw('flag'), rows: 10, isIndexed: false }
    expect([
      haveOnePlan([equal('owner'), queried], indexes),
      haveOnePlan([equal('owner'), other], indexes),
    ]).toEqual([false, false])
  })
})

describe('conditions by which rows are found', () => {
  it('conditions by which rows are found leave out what follows from another filter of the list', () => {
    const implied = equal('schema', ['x'], { impliedBy: 'template' })
    expect(texts([implied, equal('template')])).toEqual(['template'])
    expect(texts([implied, equal('owner')])).toEqual(['schema', 'owner'])
  })

  it('conditions by which rows are found are those that an index serves, where they are spelled otherwise', () => {
    expect(texts([equal('owner', ['x'], { found: raw('spelled') })])).toEqual(['spelled'])
  })

  it('conditions by which rows are found keep the index of a filter unread that finds far more rows than another', () => {
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
