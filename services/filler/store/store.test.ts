import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../tests/setup/database.ts'
import { connectDatabase } from '../../core/database/index.ts'
import { CommitUnit } from './commit-unit.ts'
import { appendTable, counterTable, groupedTable, historyTable, keyedTable } from '../../core/model/table.ts'
import { action, block, orNull, row, rule } from '../../core/model/column.ts'
import { chainTables } from '../../core/model/tables/index.ts'
import { openStore } from './store.ts'
import type { Derivation } from '../rows/operations.ts'
import type { Store } from './store.ts'
import type { RowOf, Table } from '../../core/model/table.ts'

const fates = historyTable('lab.fates', 'lab.past_fates', ['name'], {
  name: row.text,
  since_block: block.integer,
  value: row.bytes,
})
const things = keyedTable(
  'lab.things',
  ['id'],
  { id: row.bigint, name: orNull(row.text), size: row.integer, born: row.integer },
  ['born'],
)
const shares = groupedTable('lab.shares', ['owner'], ['owner', 'token'], {
  owner: row.text,
  token: row.text,
  amount: row.bigint,
})
const counts = counterTable('lab.counts', ['name'], { name: rule.text, up: rule.bigint, down: rule.bigint })
const events = appendTable('lab.events', 'seq', { seq: action.bigint, note: action.text })
const { abis: facts, codeAccounts: firsts } = chainTables
const tables = [things, shares, counts, events, facts, firsts, fates] as unknown as Table[]

const doubled: Derivation<{ id: bigint; size: number }> = {
  kind: 'derivation',
  name: 'doubled',
  keys: 'bigint',
  sources: [],
  statement: 'SELECT id, size * 2 AS size FROM lab.things WHERE id = ANY($1::bigint[]) AND size < 50',
  apply: (rows, sink) => {
    for (const { id, size } of rows) sink.patch(things, { id }, { size })
  },
}

const SCHEMA = `
  CREATE SCHEMA lab;
  CREATE TABLE lab.things (id bigint PRIMARY KEY, name text COLLATE "C", size integer NOT NULL, born integer NOT NULL);
  CREATE TABLE lab.shares (owner text, token text, amount bigint NOT NULL, PRIMARY KEY (owner, token));
  CREATE TABLE lab.counts (name text PRIMARY KEY, up bigint NOT NULL, down bigint NOT NULL);
  CREATE TABLE lab.fates (name text PRIMARY KEY, since_block integer NOT NULL, value bytea NOT NULL);
  CREATE TABLE lab.past_fates (name text, since_block integer, until_block integer NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (name, since_block));
  CREATE TABLE lab.events (seq bigint PRIMARY KEY, note text NOT NULL) PARTITION BY RANGE (seq);
  SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY['lab.things', 'lab.shares', 'lab.counts']) t`

let database: TestDatabase
let reader: pg.Client
let store: Store

beforeEach(async () => {
  database = await createTestDatabase()
  reader = await connectDatabase(database.address, { applicationName: 'test' })
  await reader.query(SCHEMA)
  store = await openTestStore()
})

afterEach(async () => {
  await store.close()
  await reader.end()
  await database.drop()
})

function openTestStore(): Promise<Store> {
  return openStore({
    address: database.address,
    reader: 'lab',
    startBlock: 1,
    tables,
    derived: [doubled],
    handoverMs: 300,
  })
}

function id(num: number): Uint8Array {
  const bytes = Buffer.alloc(32)
  bytes.writeUInt32BE(num)
  return bytes
}

async function commit(
  num: number,
  reversible: boolean,
  fill: (unit: CommitUnit) => void,
  lib = reversible ? num - 1 : num,
): Promise<void> {
  const unit = new CommitUnit(reversible)
  fill(unit)
  unit.closeBlock({ num, id: id(num), timeMs: num * 500 })
  await store.commit(unit, lib)
}

/** Reads all rows of all tables under test, in a fixed order. */
async function dump(): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {}
  for (const [table, key] of [
    ['lab.things', 'id'],
    ['lab.shares', 'owner, token'],
    ['lab.counts', 'name'],
    ['lab.events', 'seq'],
    ['chain.abis', 'account, block_num'],
    ['chain.readers', 'name'],
  ]) {
    contents[table!] = (await reader.query(`SELECT * FROM ${table!} ORDER BY ${key!}`)).rows
  }
  return contents
}

const thing = (n: number, size = n): RowOf<typeof things> => ({ id: BigInt(n), name: `n${n}`, size, born: n })

describe('a commit unit', () => {
  it('a commit unit merges operations on one row, and writes the same rows by its small and its large write path', async () => {
    for (const [block, total] of [
      [10, 5],
      [11, 400],
    ] as const) {
      await commit(block, false, (unit) => {
        for (let n = 0; n < total; n++) {
          unit.insert(things, thing(block * 1000 + n))
          unit.patch(things, { id: BigInt(block * 1000 + n) }, { size: 7 })
          unit.add(counts, { name: 'all', up: 1n, down: 0n })
          unit.append(events, { seq: BigInt(block * 1000 + n), note: 'tab\there \\ "quoted"\nline \0 nul' })
        }
        unit.patch(things, { id: 1n }, { size: 1 })
        unit.remove(things, { id: BigInt(block * 1000) })
        unit.replaceGroup(shares, { owner: 'ann' }, [{ owner: 'ann', token: 'WAX', amount: 1n }])
        unit.replaceGroup(shares, { owner: 'ann' }, [{ owner: 'ann', token: 'KARMA', amount: BigInt(block) }])
      })
    }
    const { rows } = await reader.query('SELECT count(*)::int AS n, sum(size)::int AS size FROM lab.things')
    expect(rows).toEqual([{ n: 403, size: 403 * 7 }])
    expect((await reader.query('SELECT * FROM lab.counts')).rows).toEqual([
      { name: 'all', up: 405n, down: 0n },
    ])
    expect((await reader.query('SELECT * FROM lab.shares')).rows).toEqual([
      { owner: 'ann', token: 'KARMA', amount: 11n },
    ])
    const notes = await reader.query(
      'SELECT note, count(*)::int AS n, min(seq)::int AS low, max(seq)::int AS high FROM lab.events GROUP BY 1',
    )
    expect(notes.rows).toEqual([
      { note: 'tab\there \\ "quoted"\nline   nul', n: 405, low: 10_000, high: 11_399 },
    ])
    expect(store.position).toMatchObject({ num: 11, timeMs: 5500 })
  })

  it('the memory of a commit unit grows with its rows, not with the number of changes to them', () => {
    const unit = new CommitUnit(false)
    for (let n = 0; n < 10; n++) unit.insert(things, thing(n))
    const { bytes } = unit
    for (let times = 0; times < 100; times++)
      for (let n = 0; n < 10; n++) unit.patch(things, { id: BigInt(n) }, { name: `m${n}`, size: times })
    expect(unit.bytes).toBe(bytes)
    unit.patch(things, { id: 1n }, { name: 'x'.repeat(1_000) })
    expect(unit.bytes).toBe(bytes + 998)
    for (let n = 0; n < 1_000; n++) unit.append(events, { seq: BigInt(n), note: 'x'.repeat(100) })
    expect(unit.bytes).toBeGreaterThan(bytes + 50_000)
  })

  it('a commit unit preserves the columns that an upsert does not set, unless they were patched', async () => {
    await commit(1, false, (unit) => unit.upsert(things, thing(1)))
    await commit(2, false, (unit) => unit.upsert(things, { id: 1n, name: 'new', size: 9, born: 99 }))
    expect((await reader.query('SELECT * FROM lab.things')).rows).toEqual([
      { id: 1n, name: 'new', size: 9, born: 1 },
    ])
    await commit(3, false, (unit) => {
      unit.patch(things, { id: 1n }, { born: 55 })
      unit.upsert(things, { id: 1n, name: 'newer', size: 9, born: 99 })
    })
    expect((await reader.query('SELECT * FROM lab.things')).rows).toEqual([
      { id: 1n, name: 'newer', size: 9, born: 55 },
    ])
    await commit(4, false, (unit) => {
      unit.remove(things, { id: 1n })
      unit.upsert(things, { id: 1n, name: null, size: 0, born: 4 })
    })
    expect((await reader.query('SELECT * FROM lab.things')).rows).toEqual([
      { id: 1n, name: null, size: 0, born: 4 },
    ])
  })

  it('a commit unit ignores a patch of a row that does not exist yet', async () => {
    await commit(1, false, (unit) => {
      unit.patch(things, { id: 1n }, { born: 55 })
      unit.upsert(things, thing(1))
      unit.patch(things, { id: 2n }, { born: 55, size: 5 })
      unit.upsert(things, thing(2))
      unit.patch(things, { id: 2n }, { born: 66 })
    })
    expect((await reader.query('SELECT * FROM lab.things ORDER BY id')).rows).toEqual([
      thing(1),
      { ...thing(2), born: 66 },
    ])
  })

  it('a commit unit stores old row versions back to the configured block, both with parameters and with COPY', async () => {
    const at = async (block: number): Promise<Map<string, string>> => {
      const { rows } = await reader.query<{ name: string; value: Buffer }>(
        `SELECT name, value FROM lab.fates WHERE since_block <= $1
         UNION ALL SELECT name, value FROM lab.past_fates WHERE since_block <= $1 AND until_block > $1`,
        [block],
      )
      return new Map(rows.map(({ name, value }) => [name, value.toString()]))
    }
    /** Expected rows at the end of each block, by block. */
    const model = [new Map<string, string>()]
    const change = (unit: CommitUnit, block: number, rows: number): void => {
      const now = new Map(model[block - 1])
      for (let n = 0; n < rows; n++) {
        const name = `n${n}`
        const roll = (block * 31 + n * 17) % 7
        if (roll < 3) continue
        if (roll === 3) {
          unit.end(fates, { name }, block)
          now.delete(name)
          continue
        }
        // Two versions of a row in one block: the second version must replace the first.
        unit.version(fates, { name, since_block: block, value: Buffer.from('draft') })
        unit.version(fates, { name, since_block: block, value: Buffer.from(`${name}@${block}`) })
        now.set(name, `${name}@${block}`)
      }
      model[block] = now
    }
    for (let block = 1; block <= 10; block++) await commit(block, false, (unit) => change(unit, block, 20))
    // One unit of ten blocks.
    await commit(20, false, (unit) => {
      for (let block = 11; block <= 20; block++) change(unit, block, 300)
    })
    for (let block = 21; block <= 25; block++)
      await commit(block, true, (unit) => change(unit, block, 300), 20)
    for (const [block, rows] of model.entries()) expect([block, await at(block)]).toEqual([block, rows])
    await store.rollBackTo(23)
    for (let block = 0; block <= 22; block++) expect([block, await at(block)]).toEqual([block, model[block]])
    expect(await at(25)).toEqual(model[22])
    for (let block = 23; block <= 25; block++)
      await commit(block, true, (unit) => change(unit, block, 300), 20)
    expect(await at(25)).toEqual(model[25])
    // Rows that a fork may restore are never pruned.
    await commit(26, true, (unit) => unit.forget(fates, 24), 20)
    for (let block = 20; block <= 25; block++) expect([block, await at(block)]).toEqual([block, model[block]])
    const oldest = await reader.query<{ block: number }>(
      'SELECT min(until_block) AS block FROM lab.past_fates',
    )
    expect(oldest.rows[0]!.block).toBe(21)
    // A unit with many changes of one row collects only the versions of the row that are valid after block 39, see
    // `forget`.
    model[26] = model[25]!
    await commit(40, false, (unit) => {
      unit.forget(fates, 39)
      for (let block = 27; block <= 40; block++) change(unit, block, 300)
    })
    for (let block = 39; block <= 40; block++) expect([block, await at(block)]).toEqual([block, model[block]])
    const { rows } = await reader.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM lab.past_fates WHERE until_block < 40',
    )
    expect(rows[0]!.n).toBe(0)
  })

  it('a commit unit removes counters that have become zero', async () => {
    await commit(1, false, (unit) => {
      unit.add(counts, { name: 'a', up: 3n, down: 0n })
      // A counter is negative while only its decrements are indexed: the increments came before the first indexed
      // block.
      unit.add(counts, { name: 'c', up: -1n, down: 0n })
    })
    await commit(2, false, (unit) => {
      unit.add(counts, { name: 'a', up: -3n, down: 0n })
      unit.add(counts, { name: 'c', up: 1n, down: 0n })
      unit.add(counts, { name: 'b', up: 1n, down: 0n })
      unit.add(counts, { name: 'b', up: -1n, down: 0n })
    })
    expect((await reader.query('SELECT * FROM lab.counts')).rows).toEqual([])
  })
})

describe('the undo journal', () => {
  it('the undo journal restores every table, whatever rows the undone blocks changed', async () => {
    await commit(5, false, (unit) => {
      for (let n = 0; n < 300; n++) unit.insert(things, thing(n))
      unit.replaceGroup(shares, { owner: 'ann' }, [{ owner: 'ann', token: 'WAX', amount: 1n }])
      unit.add(counts, { name: 'a', up: 1n, down: 0n })
      unit.append(events, { seq: 50n, note: 'stored' })
    })
    const before = await dump()
    for (let block = 6; block <= 9; block++) {
      await commit(
        block,
        true,
        (unit) => {
          for (let n = 0; n < 300; n += block)
            unit.patch(things, { id: BigInt(n) }, { size: block * 100, name: null })
          unit.remove(things, { id: BigInt(block) })
          unit.insert(things, thing(1000 + block, 3))
          unit.recheck(doubled, BigInt(1000 + block))
          unit.upsert(things, { id: 7n, name: 'up', size: block + 100, born: 0 })
          unit.replaceGroup(
            shares,
            { owner: 'ann' },
            block === 7 ? [] : [{ owner: 'ann', token: 'KARMA', amount: 2n }],
          )
          unit.replaceGroup(shares, { owner: 'bob' }, [{ owner: 'bob', token: 'WAX', amount: BigInt(block) }])
          unit.add(counts, { name: 'a', up: -1n, down: BigInt(block % 2) })
          unit.add(counts, { name: 'b', up: 1n, down: 0n })
          unit.append(events, { seq: BigInt(block * 10), note: 'void' })
          unit.upsert(facts, { account: 'carl', block_num: block, reader: 'lab', abi: id(block) })
        },
        5,
      )
    }
    expect((await reader.query('SELECT size FROM lab.things WHERE id = 1009')).rows).toEqual([{ size: 6 }])
    await store.rollBackTo(6)
    expect(await dump()).toEqual(before)
    expect((await reader.query('SELECT count(*)::int AS n FROM undo.lab_things')).rows).toEqual([{ n: 0 }])
    expect(store.position?.num).toBe(5)
  })

  it('the undo journal refuses to undo more blocks than it holds', async () => {
    await commit(5, false, (unit) => unit.insert(things, thing(1)))
    await commit(6, true, (unit) => unit.insert(things, thing(2)), 5)
    await commit(7, true, (unit) => unit.insert(things, thing(3)), 6)
    await expect(store.rollBackTo(6)).rejects.toMatchObject({ code: 'UNDO_JOURNAL_EXHAUSTED' })
    expect((await reader.query('SELECT count(*)::int AS n FROM lab.things')).rows).toEqual([{ n: 3 }])
    await store.rollBackTo(7)
    expect((await reader.query('SELECT count(*)::int AS n FROM lab.things')).rows).toEqual([{ n: 2 }])
    // Block 7 is rolled back already, so block 8 does not exist.
    await expect(store.rollBackTo(8)).rejects.toMatchObject({ code: 'UNDO_JOURNAL_EXHAUSTED' })
  })
})

describe('the lease', () => {
  it('the lease is refused to a second writer with an error that names the holder, and the holder continues', async () => {
    await commit(1, false, (unit) => unit.insert(things, thing(1)))
    await expect(openTestStore()).rejects.toMatchObject({ code: 'READER_LEASE_HELD' })
    await expect(openTestStore()).rejects.toThrow(new RegExp(`process ${process.pid} on`))
    await commit(2, false, (unit) => unit.insert(things, thing(2)))
    expect(store.position?.num).toBe(2)
  })

  it('the lease ends with its session: no further commit succeeds', async () => {
    await reader.query(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    )
    await expect(commit(1, false, (unit) => unit.insert(things, thing(1)))).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    })
    const next = await openTestStore()
    expect(next.position).toBeNull()
    await next.close()
    expect((await reader.query('SELECT count(*)::int AS n FROM lab.things')).rows).toEqual([{ n: 0 }])
  })

  it('the lease is checked in every commit: an older fencing number commits nothing', async () => {
    await reader.query("UPDATE chain.leases SET fence = fence + 1 WHERE reader = 'lab'")
    await expect(commit(1, false, (unit) => unit.insert(things, thing(1)))).rejects.toMatchObject({
      code: 'READER_LEASE_LOST',
    })
    expect((await reader.query('SELECT count(*)::int AS n FROM lab.things')).rows).toEqual([{ n: 0 }])
  })
})

it('a reader whose rows were deleted (delete_data) starts from the first block', async () => {
  await commit(1, true, (unit) => unit.insert(things, thing(1)))
  await store.wipe()
  expect(store.position).toBeNull()
  expect(
    (
      await reader.query(
        'SELECT (SELECT count(*) FROM lab.things)::int AS a, (SELECT count(*) FROM undo.lab_things)::int AS b, (SELECT count(*) FROM chain.readers)::int AS c',
      )
    ).rows,
  ).toEqual([{ a: 0, b: 0, c: 0 }])
})

describe('rows shared by readers', () => {
  let ann: Store
  let bob: Store
  beforeEach(async () => {
    const open = (name: string) =>
      openStore({ address: database.address, reader: name, startBlock: 1, tables: [facts, firsts] as never })
    ann = await open('ann')
    bob = await open('bob')
  })
  afterEach(async () => {
    await ann.close()
    await bob.close()
  })

  /** Commits a block of a fork branch: sets the rows of the accounts in both tables, with the branch number as ABI. */
  async function share(
    of: Store,
    [num, branch]: readonly [number, number],
    accounts: readonly string[],
    irreversible: number,
  ): Promise<void> {
    const unit = new CommitUnit(num > irreversible)
    for (const account of accounts) {
      unit.upsert(facts, { account, block_num: num, reader: of.lease.reader, abi: Buffer.of(branch) })
      unit.upsert(firsts, { account, since_block: num, reader: of.lease.reader })
    }
    const blockId = Buffer.alloc(32, branch)
    blockId.writeUInt32BE(num)
    unit.closeBlock({ num, id: blockId, timeMs: num * 500 })
    await of.commit(unit, irreversible)
  }

  async function shared(): Promise<string[]> {
    const { rows } = await reader.query<{ text: string }>(
      `SELECT concat_ws(' ', account, block_num, get_byte(abi, 0), reader) AS text FROM chain.abis ORDER BY 1`,
    )
    return rows.map(({ text }) => text)
  }

  async function seen(): Promise<string[]> {
    const { rows } = await reader.query<{ text: string }>(
      `SELECT concat_ws(' ', account, since_block) AS text FROM chain.code_accounts ORDER BY 1`,
    )
    return rows.map(({ text }) => text)
  }

  it('a reader that deletes its rows does not delete shared rows of blocks that another reader has committed', async () => {
    await share(ann, [4, 1], ['x'], 4)
    await share(ann, [6, 1], ['y'], 6)
    for (const num of [4, 6, 8]) await share(bob, [num, 1], [num === 4 ? 'x' : num === 6 ? 'y' : 'z'], num)
    await bob.wipe()
    expect(await shared()).toEqual(['x 4 1 ann', 'y 6 1 ann'])
    expect(await seen()).toEqual(['x 4', 'y 6'])
    await share(bob, [4, 1], ['x'], 4)
    await ann.wipe()
    expect(await shared()).toEqual(['x 4 1 bob'])
    expect(await seen()).toEqual(['x 4'])
    await bob.wipe()
    expect(await shared()).toEqual([])
    expect(await seen()).toEqual([])
  })

  it('rows shared by readers stay if one reader deletes its rows while another reader writes them', async () => {
    await share(bob, [6, 1], ['x'], 6)
    await share(ann, [4, 1], [], 4)
    const unit = new CommitUnit(false)
    unit.upsert(facts, { account: 'x', block_num: 6, reader: 'ann', abi: Buffer.of(1) })
    unit.closeBlock({ num: 6, id: id(6), timeMs: 3_000 })
    let wiped: Promise<void> | undefined
    await ann.commit(unit, 6, async () => {
      wiped = bob.wipe()
      const waiting =
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
      await expect.poll(async () => (await reader.query(waiting)).rowCount).toBeGreaterThan(0)
    })
    await wiped
    expect(await shared()).toEqual(['x 6 1 ann'])
  })

  it('a row shared by readers is undone when the last reader that has its block undoes the block', async () => {
    for (const of of [ann, bob]) {
      await share(of, [5, 1], [], 5)
      await share(of, [6, 1], ['x'], 5)
    }
    await bob.rollBackTo(6)
    expect(await shared()).toEqual(['x 6 1 ann'])
    await share(bob, [6, 2], [], 5)
    await ann.rollBackTo(6)
    expect(await shared()).toEqual([])
    expect(await seen()).toEqual([])
  })

  it('a row shared by readers stays after a rollback if another reader has the row on the new branch', async () => {
    for (const of of [ann, bob]) {
      await share(of, [5, 1], [], 5)
      await share(of, [6, 1], ['x'], 5)
    }
    await bob.rollBackTo(6)
    await share(bob, [6, 2], ['x'], 5)
    await ann.rollBackTo(6)
    expect(await shared()).toEqual(['x 6 2 bob'])
    await share(ann, [6, 2], ['x'], 5)
    await bob.rollBackTo(6)
    expect(await shared()).toEqual(['x 6 2 ann'])
  })

  it('a row shared by readers is not replaced once it is irreversible for the reader that wrote it', async () => {
    await share(ann, [5, 1], ['x'], 5)
    await share(ann, [7, 1], [], 7)
    await share(bob, [4, 1], [], 4)
    await share(bob, [5, 2], ['x'], 4)
    expect(await shared()).toEqual(['x 5 1 ann'])
    await bob.rollBackTo(5)
    expect(await shared()).toEqual(['x 5 1 ann'])
  })

  it('the block number of a row shared by readers is the lowest block of all readers, whichever reader wrote first', async () => {
    await share(ann, [9, 1], ['x'], 9)
    await share(bob, [3, 1], ['x'], 3)
    await ann.wipe()
    expect(await seen()).toEqual(['x 3'])
  })
})
