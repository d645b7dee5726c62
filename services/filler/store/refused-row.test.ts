import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../tests/setup/database.ts'
import { connectDatabase } from '../../core/database/index.ts'
import { row, rule } from '../../core/model/column.ts'
import { counterTable, keyedTable } from '../../core/model/table.ts'
import type { Derivation } from '../rows/operations.ts'
import type { RowOf, Table } from '../../core/model/table.ts'
import { CommitUnit } from './commit-unit.ts'
import { openStore } from './store.ts'
import type { Store } from './store.ts'

const things = keyedTable('lab.things', ['id'], { id: row.bigint, size: row.integer })
const counts = counterTable('lab.counts', ['name'], { name: rule.text, up: rule.bigint })

const doubled: Derivation<{ id: bigint; size: number }> = {
  kind: 'derivation',
  name: 'doubled',
  keys: 'bigint',
  sources: [],
  statement: 'SELECT id, size * 2 AS size FROM lab.things WHERE id = ANY($1::bigint[])',
  apply: (rows, sink) => {
    for (const { id, size } of rows) sink.patch(things, { id }, { size })
  },
}

const SCHEMA = `
  CREATE SCHEMA lab;
  CREATE TABLE lab.things (id bigint PRIMARY KEY, size integer NOT NULL);
  CREATE TABLE lab.counts (name text PRIMARY KEY, up bigint NOT NULL);
  SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY['lab.things', 'lab.counts']) t`

let database: TestDatabase
let client: pg.Client
let store: Store

beforeEach(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query(SCHEMA)
  store = await openStore({
    address: database.address,
    reader: 'lab',
    startBlock: 1,
    tables: [things, counts] as unknown as Table[],
    derived: [doubled],
  })
})

afterEach(async () => {
  await store.close()
  await client.end()
  await database.drop()
})

async function commit(num: number, fill: (unit: CommitUnit) => void): Promise<void> {
  const unit = new CommitUnit(false)
  fill(unit)
  unit.closeBlock({ num, id: Buffer.alloc(32, num), timeMs: num * 500 })
  await store.commit(unit, num)
}

const thing = (n: number, size = n): RowOf<typeof things> => ({ id: BigInt(n), size })

describe('a row that the database refuses', () => {
  const noise = (length: number) =>
    Array.from({ length }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000))).join('')

  it.each([
    [
      'a number beyond its column',
      5,
      (n: number) => thing(n, 2 ** 31),
      /^table lab\.things refuses a row with id 3: column size cannot hold 2147483648$/,
    ],
    [
      'a number beyond its column, among many rows',
      500,
      (n: number) => thing(n, 2 ** 31),
      /refuses a row with id 3: column size cannot hold 2147483648$/,
    ],
    [
      'a key beyond its column',
      500,
      (n: number) => ({ ...thing(n), id: 2n ** 63n }),
      /refuses a row with id 9223372036854775808: column id cannot hold 9223372036854775808$/,
    ],
  ])('the error of a refused write names the row that has %s', async (_, rows, bad, message) => {
    const fill = (unit: CommitUnit): void => {
      for (let n = 1; n <= rows; n++) unit.insert(things, n === 3 ? bad(n) : thing(n))
    }
    await expect(commit(10, fill)).rejects.toMatchObject({
      code: 'DATABASE_ERROR',
      message: expect.stringMatching(message) as string,
    })
    await commit(10, (unit) => unit.insert(things, thing(1)))
  })

  it('the error of a refused write names the row whose text is too long for an index', async () => {
    const long = noise(20_000)
    await expect(
      commit(10, (unit) => {
        for (const name of ['a', long, 'b']) unit.add(counts, { name, up: 1n })
      }),
    ).rejects.toMatchObject({ message: `table lab.counts refuses a row with name ${long.slice(0, 100)}` })
  })

  it('the error of a refused write names the table if a sum exceeds its column', async () => {
    const add = (unit: CommitUnit): void => unit.add(counts, { name: 'all', up: 2n ** 62n })
    await commit(10, add)
    await expect(commit(11, add)).rejects.toMatchObject({
      message: 'table lab.counts refuses a row with name all',
    })
  })

  it('the error of a refused write names the derivation if a derived row cannot be computed', async () => {
    const fill = (unit: CommitUnit): void => {
      unit.insert(things, thing(1, -(2 ** 31)))
      unit.recheck(doubled, 1n)
    }
    await expect(commit(10, fill)).rejects.toMatchObject({
      code: 'DATABASE_ERROR',
      message: 'derived rows cannot be computed (doubled)',
    })
  })
})
