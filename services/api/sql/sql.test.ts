import { describe, expect, it } from 'vitest'
import { bind, bindIds, bindIntegers, joinSql, PreparedNames, raw, sql, where } from './sql.ts'

describe('SQL fragments', () => {
  it('SQL fragments number their values in the order of the text', () => {
    const owner = sql`a.owner = ${bind('alice', 'text')}`
    const ids = sql`a.asset_id = ANY(${bindIds([1n, 2n])})`
    expect(sql`SELECT 1 FROM a ${where([owner, ids])} LIMIT ${raw('5')}`.render()).toEqual({
      text: 'SELECT 1 FROM a WHERE a.owner = $1::text AND a.asset_id = ANY($2::bigint[]) LIMIT 5',
      values: ['alice', '{1,2}'],
    })
  })

  it('SQL fragments use one placeholder for a fragment that occurs twice', () => {
    const id = bind(7n, 'bigint')
    expect(sql`SELECT ${id} UNION SELECT ${id}`.render()).toEqual({
      text: 'SELECT $1::bigint UNION SELECT $1::bigint',
      values: [7n],
    })
  })

  it('bindIntegers omits ids that a 32-bit column cannot hold', () => {
    expect(bindIntegers([1n, 2n ** 31n, -5n]).render().values).toEqual(['{1,-5}'])
  })

  it('joining an empty list of SQL fragments gives an empty text', () => {
    expect(sql`SELECT 1 ${where([])}${joinSql([], ', ')}`.render().text).toBe('SELECT 1 ')
  })
})

describe('names of prepared statements', () => {
  it('equal SQL texts get the same statement name, and further texts get no name once the maximum number of names is reached', () => {
    const names = new PreparedNames(1)
    const one = names.prepared({ text: 'SELECT 1', values: [] })
    expect(one.name).toBeDefined()
    expect(names.prepared({ text: 'SELECT 1', values: [] }).name).toBe(one.name)
    expect(names.prepared({ text: 'SELECT 2', values: [] }).name).toBeUndefined()
  })
})
