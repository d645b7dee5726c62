import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forcedPaths } from '../../../tests/api/forced-paths.ts'
import { createRandom } from '../../../tests/integration/seeded-random.ts'
import { createTestDatabase } from '../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../tests/setup/database.ts'
import { connectDatabase } from '../../core/database/index.ts'
import { raw, sql } from '../sql/index.ts'
import type { Sql } from '../sql/index.ts'
import type { Filter } from './filters/index.ts'
import { rowsByDrivingTable } from './sources/index.ts'
import { countOf } from './count.ts'
import { pageOf } from './statement.ts'

const THINGS = 400
const REQUESTS = 60

interface Thing {
  readonly id: number
  readonly giver: number
  readonly taker: number
  /** Few distinct weights: most rows share their weight with other rows. */
  readonly weight: number
}

const source = {
  from: raw('things t'),
  alias: 't',
  key: 'id',
  indexes: [
    { name: 'pkey', columns: ['id'] },
    { name: 'weight', columns: ['weight', 'id'] },
    { name: 'giver', columns: ['giver', 'id'] },
    { name: 'giver_weight', columns: ['giver', 'weight', 'id'] },
  ],
}

let database: TestDatabase
let client: pg.Client
let things: Thing[]

beforeAll(async () => {
  database = await createTestDatabase('template0')
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query('CREATE TABLE things (id bigint PRIMARY KEY, giver int, taker int, weight int)')
  const random = createRandom(5)
  things = Array.from({ length: THINGS }, (_, at) => ({
    ...{ id: at + 1, giver: random.between(1, 6), taker: random.between(1, 6), weight: random.between(1, 9) },
  }))
  for (const { id, giver, taker, weight } of things)
    await client.query('INSERT INTO things VALUES ($1, $2, $3, $4)', [id, giver, taker, weight])
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

async function select<R extends object>(statement: Sql): Promise<R[]> {
  const { text, values } = statement.render()
  return (await client.query<R>(text, [...values])).rows
}

/** A filter that accepts any of some values of a column, and a function with the same condition. */
function oneOf(column: 'giver' | 'taker', values: readonly number[]): [Filter, (thing: Thing) => boolean] {
  const filter = {
    name: column,
    condition: sql`t.${raw(column)} IN (${raw(values.join(', '))})`,
    rows: (THINGS * values.length) / 6,
    ...(column === 'giver'
      ? { equals: { column, values, type: 'integer', count: values.length }, isIndexed: true }
      : { isIndexed: false }),
  }
  return [filter, (thing) => values.includes(thing[column])]
}

describe('the keys of a page', () => {
  it.each(Object.entries(forcedPaths))(
    'the keys of a page are in order, also for equal sort values: %s',
    async (_, choose) => {
      const random = createRandom(11)
      let complete = 0
      for (let request = 0; request < REQUESTS; request++) {
        const column = random.fraction() < 0.3 ? 'id' : 'weight'
        const direction = random.fraction() < 0.5 ? 'ASC' : 'DESC'
        const keys = random.fraction() < 0.5 ? 'ASC' : 'DESC'
        const chosen = [
          ...(random.fraction() < 0.6 ? [oneOf('giver', random.fraction() < 0.5 ? [2] : [1, 3, 4])] : []),
          ...(random.fraction() < 0.5 ? [oneOf('taker', [1, 2])] : []),
        ]
        const filters = chosen.map(([filter]) => filter)
        const window = { offset: random.between(0, 1) * random.between(0, 70), limit: random.between(1, 40) }
        const order = { direction, keys, segments: [{ rank: 0, column }] } as const
        const list = { source, rows: THINGS, filters, order, window }
        const found = await select<{ k: bigint | null; n: bigint }>(pageOf(list, choose(list)))
        const matching = things.filter((thing) => chosen.every(([, matches]) => matches(thing)))
        const sign = (way: 'ASC' | 'DESC') => (way === 'ASC' ? 1 : -1)
        const expected = matching
          .toSorted((a, b) => sign(direction) * (a[column] - b[column]) || sign(keys) * (a.id - b.id))
          .slice(window.offset, window.offset + window.limit)
        expect(await select(countOf(list))).toEqual([{ count: String(matching.length) }])
        // A row without a key is a marker: the row budget ran out, so the page is unknown.
        if (found.some(({ k }) => k === null)) continue
        complete++
        const places = found.toSorted((a, b) => Number(a.n - b.n)).map(({ k, n }) => [Number(k), Number(n)])
        expect(places).toEqual(expected.map(({ id }, at) => [id, window.offset + at]))
      }
      expect(complete).toBeGreaterThan(REQUESTS / 4)
    },
  )
})

describe('rows via a driving table', () => {
  const drivingRows = raw('SELECT g.value FROM generate_series(1, 9) g(value)')
  const rowsOf = (budget: number | undefined, wanted: number, weights: string) =>
    select<{ k: bigint | null; v: number }>(
      rowsByDrivingTable({
        ...{
          drivingRows,
          from: raw('things x'),
          key: raw('x.id'),
          direction: 'ASC',
          wanted,
          budget,
          rowsOfEach: 8,
        },
        conditions: [raw('x.weight = t.value'), raw(`x.weight IN (${weights})`)],
      }),
    )
  const ofWeight = (...weights: number[]) => things.filter(({ weight }) => weights.includes(weight)).length

  it('rows via a driving table come in the order of the driving rows, with all rows of the last driving row', async () => {
    const found = await rowsOf(undefined, ofWeight(1) + 1, '1, 2, 3')
    expect(found.map(({ v }) => v)).toEqual([
      ...Array.from({ length: ofWeight(1) }, () => 1),
      ...Array.from({ length: ofWeight(2) }, () => 2),
    ])
  })

  it('rows via a driving table end with a marker if the row budget ends before the page is full', async () => {
    // A budget of 16 rows covers four driving rows: each has 8 rows by estimate, and two adjacent rows count as one.
    expect(await rowsOf(16, 10, '5')).toEqual([{ k: null, v: 5 }])
    expect((await rowsOf(16, ofWeight(4), '4, 5')).map(({ k }) => k === null)).not.toContain(true)
    const beyond = await rowsOf(16, ofWeight(4) + 1, '4, 5')
    expect(beyond.at(-1)).toEqual({ k: null, v: 5 })
  })
})
