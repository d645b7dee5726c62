import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bind, raw, sql, where } from '../../services/api/sql/sql.ts'
import type { Session } from '../../services/api/index.ts'
import type { Sql } from '../../services/api/sql/sql.ts'
import { ListReader } from '../../services/api/planner/list.ts'
import { Statistics } from '../../services/api/planner/statistics.ts'
import type { List } from '../../services/api/planner/list.ts'
import type { PageWindow } from '../../services/api/planner/sources/source.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createRandom } from '../integration/seeded-random.ts'
import type { SeededRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { sessionOf } from './client-session.ts'
import { forcedPaths } from './forced-paths.ts'
import { seedsBeside } from '../setup/seeds.ts'

const SEED = 7
const seeds = seedsBeside(SEED)
/** Number of random test tables for each seed. */
const TABLES = Number(process.env['LIST_REQUESTS'] ?? 40 / seeds.length)
/**
 * Numbers of index ranges to test. The planner merges up to eight ranges into one stream, and reads more than eight one
 * by one.
 */
const rangeFilters = [2, 8, 9, 30] as const

let database: TestDatabase
let client: pg.Client
let session: Session
beforeAll(async () => {
  database = await createTestDatabase('template0')
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query(`CREATE TABLE ranged (id bigint PRIMARY KEY, range integer, value integer, hit boolean);
    CREATE INDEX ranged_idx ON ranged (range, value, id)`)
  session = sessionOf(client)
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

function pick<T>(random: SeededRandom, values: readonly T[]): T {
  return values[random.between(0, values.length - 1)]!
}

/**
 * Inserts rows into index ranges of different sizes. In some ranges the filter matches from the first row on, in some
 * only near the end, in some almost never.
 */
async function fill(random: SeededRandom, ranges: number): Promise<void> {
  const rows: [number, number, boolean][] = []
  for (let range = 0; range < ranges; range++) {
    const size = pick(random, [0, 1, 5, 40, 150])
    const from = pick(random, [0, 0, 3, 60])
    const share = pick(random, [0, 0.05, 0.5, 1])
    const step = pick(random, [0, 1, 7])
    for (let at = 0; at < size; at++)
      rows.push([range, Math.floor((at * step) / 2), at >= from && random.fraction() < share])
  }
  await client.query('TRUNCATE ranged')
  await client.query(
    `INSERT INTO ranged SELECT row_number() OVER (ORDER BY random()), r.* FROM unnest($1::integer[], $2::integer[],
      $3::boolean[]) r`,
    [rows.map(([range]) => range), rows.map(([, value]) => value), rows.map(([, , hit]) => hit)],
  )
  await client.query('ANALYZE ranged')
}

/** Properties of a list that the test varies. */
interface Kind {
  readonly direction: 'ASC' | 'DESC'
  /** Whether a subquery returns the column values of the index ranges. */
  readonly isQueried: boolean
  readonly isChecked: boolean
}

function listOf(ranges: number, { direction, isQueried, isChecked }: Kind): List {
  const values = Array.from({ length: ranges }, (_, range) => range)
  const condition = sql`e.range = ANY(${bind(values.map(String), 'integer[]')})`
  const equals = {
    column: 'range',
    values: isQueried ? raw('SELECT DISTINCT g.range AS value FROM ranged g') : values,
    type: 'integer',
    count: ranges,
  }
  return {
    source: {
      from: raw('ranged e'),
      alias: 'e',
      key: 'id',
      indexes: [{ name: 'ranged_idx', columns: ['range', 'value', 'id'] }],
    },
    table: 'public.ranged',
    filters: [
      { name: 'range', condition, rows: 1, equals, isIndexed: true },
      ...(isChecked ? [{ name: 'hit', condition: raw('e.hit'), rows: 1, isIndexed: false }] : []),
    ],
    order: {
      direction,
      segments: [{ rank: 0, column: 'value' }],
    },
  }
}

async function plainPage({ filters, order }: List, window: PageWindow): Promise<string[]> {
  const value = order.segments[0]!.value ?? raw('e.value')
  const conditions = where(filters.map(({ condition }): Sql => condition))
  const statement = sql`SELECT e.id::text FROM ranged e ${conditions}
    ORDER BY ${value} ${raw(order.direction)}, e.id LIMIT ${raw(String(window.limit))} OFFSET ${raw(String(window.offset))}`
  return (await session.query<[string]>(statement.render())).map(([id]) => id)
}

describe.each(seeds)('index scans, seed %i', (seed) => {
  it.each(rangeFilters)(
    'index scans of %i ranges return the same page as a plain SQL query, with and without a row budget',
    async (ranges) => {
      const random = createRandom(seed + ranges)
      let shown = 0
      for (let at = 0; at < TABLES; at++) {
        await fill(random, ranges)
        const kind: Kind = {
          direction: pick(random, ['ASC', 'DESC']),
          isQueried: random.fraction() < 0.5,
          isChecked: random.fraction() < 0.9,
        }
        const list = listOf(ranges, kind)
        const limit = pick(random, [1, 5, 20, 100])
        const window = { limit, offset: pick(random, [0, 0, limit, 3 * limit]) }
        const expected = await plainPage(list, window)
        if (expected.length > 0) shown++
        for (const [name, choose] of Object.entries(forcedPaths)) {
          const reader = new ListReader(new Statistics([]), choose)
          const found = await reader.keys(session, list, window)
          expect([at, name, kind, window, found]).toEqual([at, name, kind, window, expected])
        }
      }
      if (seed === SEED) expect(shown).toBeGreaterThan(TABLES / 4)
    },
  )
})
