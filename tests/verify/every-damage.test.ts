import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { openRowDecoder } from '../../services/verify/decode/index.ts'
import { readCoverage } from '../../services/verify/checked/index.ts'
import { compareDigests, digestSnapshot } from '../../services/verify/digest/digest.ts'
import type { DatabaseDigest } from '../../services/verify/digest/digest.ts'
import { writeRepairs } from '../../services/verify/engine/repair.ts'
import { verify } from '../../services/verify/engine/verify.ts'
import { StateSource } from '../../services/verify/sources/state-source.ts'
import { verifiedTables } from '../../services/verify/tables/index.ts'
import { createRandom } from '../integration/seeded-random.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { readNumber } from '../setup/read-number.ts'
import { roundsOfSeed, seedsBeside } from '../setup/seeds.ts'
import { createBroadDatabase } from './verify-of.ts'
import { otherValueOf } from './other-value.ts'

const SEED = 1
/** Number of damages per run. `VERIFY_DAMAGES=2000` covers every column, because fewer than 2000 damages exist. */
const DAMAGES = readNumber('VERIFY_DAMAGES', roundsOfSeed(22, 300), 1, 10_000)

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly isKey: boolean
}

interface Damage {
  readonly table: string
  /** The damaged column; undefined if a whole row is deleted or added. */
  readonly column?: string
  readonly kind: 'change' | 'null' | 'swap' | 'delete' | 'add'
  /** SQL condition on the rows that the damage may change. */
  readonly of: string
  /** @param row SQL condition that selects the row to damage. @param other SQL condition that selects a second row. */
  readonly text: (row: string, other: string) => string
}

const otherValue = ({ name, type }: Column): string => otherValueOf(type, `t.${name}`)

let database: TestDatabase
let client: pg.Client
/** The undamaged state of the chain, with which each damaged database is compared. */
let chain: pg.Client
let source: StateSource
let columns: readonly Column[]

beforeAll(async () => {
  database = await createBroadDatabase()
  client = await connectDatabase(database.address, { applicationName: 'damaged' })
  chain = await connectDatabase(database.address, { applicationName: 'chain' })
  await chain.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  // `absenceDoubt` is null: the connection `chain` reads a complete `state.rows`, so a repair may remove rows that the
  // source lacks.
  source = Object.assign(await StateSource.open(chain, openRowDecoder()), { absenceDoubt: null })
  const { rows } = await client.query<Column>(`
    SELECT d.name AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type, NOT a.attnotnull AS "isNullable",
      EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'p' AND a.attnum = ANY(k.conkey)) AS "isKey"
    FROM chain.digest_tables() d JOIN pg_attribute a ON a.attrelid = d.name::regclass
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attname <> 'reader' ORDER BY 1, a.attnum`)
  columns = rows
})

afterAll(async () => {
  await chain.end()
  await client.end()
  await database.drop()
})

function damagesOf(column: Column): Damage[] {
  const { table, name, isNullable, isKey } = column
  const of = `t.${name} IS NOT NULL`
  const set = (value: string) => (row: string) => `UPDATE ${table} t SET ${name} = ${value} WHERE ${row}`
  return [
    { table, column: name, kind: 'change', of, text: set(otherValue(column)) },
    ...(isNullable ? [{ table, column: name, kind: 'null', of, text: set('NULL') } as const] : []),
    ...(isKey
      ? []
      : [
          {
            ...({ table, column: name, kind: 'swap', of } as const),
            text: (row: string, other: string) =>
              `UPDATE ${table} t SET ${name} = o.value FROM (
                 SELECT (SELECT t.${name} FROM ${table} t WHERE ${other}) AS value, true AS is_first
                 UNION ALL SELECT (SELECT t.${name} FROM ${table} t WHERE ${row}), false) o
               WHERE o.is_first AND ${row} OR NOT o.is_first AND ${other}`,
          },
        ]),
  ]
}

/** Returns every possible damage, grouped by table. */
function allDamages(): Damage[] {
  const tables = [...new Set(columns.map(({ table }) => table))]
  return tables.flatMap((table) => {
    const own = columns.filter((column) => column.table === table)
    const key = own.find(({ isKey, type }) => isKey && !type.endsWith('[]')) ?? own[0]!
    const names = own.map(({ name }) => name).join(', ')
    const copied = own.map((column) => (column === key ? otherValue(column) : `t.${column.name}`)).join(', ')
    return [
      { table, kind: 'delete', of: 'true', text: (row) => `DELETE FROM ${table} t WHERE ${row}` },
      {
        ...({ table, kind: 'add', of: 'true' } as const),
        text: (row) =>
          `INSERT INTO ${table} (${names}) SELECT ${copied} FROM ${table} t WHERE ${row} ON CONFLICT DO NOTHING`,
      },
      ...own.flatMap(damagesOf),
    ] satisfies Damage[]
  })
}

/** Chooses two random rows that the damage may change; returns an empty list if the table has too few rows. */
async function chooseRows({ table, of }: Damage, seed: number): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(
    `SELECT format('(t.tableoid, t.ctid) = (%s, %L::tid)', t.tableoid, t.ctid) AS row FROM ${table} t WHERE ${of}
     ORDER BY md5($1 || t.tableoid || t.ctid::text) LIMIT 2`,
    [String(seed)],
  )
  return rows.map(({ row }) => row)
}

/** Finds the verified table whose rows can end on the chain, given its own name or the name of a child table. */
const endingTable = (table: string) =>
  verifiedTables.find(
    ({ name, ended, columns }) =>
      ended !== undefined && [name, ...columns.map(({ children }) => children?.table)].includes(table),
  )

/**
 * Whether the row, or its parent row, has ended on the chain. `verify` does not compare the columns of such a row.
 * @param changed column that gets a new value; a changed parent key moves the row to another parent.
 */
async function hasEnded(table: string, row: string, changed?: string): Promise<boolean> {
  const of = endingTable(table)
  if (of?.where === undefined) return false
  const column = columns.find((each) => each.table === table && each.name === changed)
  const keys = of.key.map(({ name }) => name)
  const values = keys.map((name) => (column?.name === name ? otherValue(column) : `t.${name}`))
  const { rows } = await client.query(
    `SELECT 1 FROM ${of.name} t WHERE NOT (${of.where})
       AND (${keys.join(', ')}) IN (SELECT ${values.join(', ')} FROM ${table} t WHERE ${row})`,
  )
  return rows.length > 0
}

type Outcome = 'impossible' | 'repaired' | 'refused' | 'not checked' | 'unchanged'
/** Outcomes of a damage that make the test fail. */
type Failure = 'MISSED' | 'REPAIRED INTO SOMETHING ELSE'

/** Damaging SQL statements by their outcome. */
type Outcomes = Map<Outcome | Failure, string[]>

/**
 * Runs the damaging SQL statement, compares the database with the chain, and repairs the database. @param isOpen
 * whether the report declares the changed columns as not checked.
 */
async function outcomeOf(
  text: string,
  before: DatabaseDigest,
  isOpen: (changed: readonly string[]) => boolean,
): Promise<Outcome | Failure> {
  try {
    await client.query(text)
  } catch {
    return 'impossible'
  }
  const verified = await verify({ client, source, signal: new AbortController().signal })
  const { report } = verified
  const isFound = report.differences.length > 0 || report.derived!.length > 0 || report.unfinished !== null
  if (!isFound) {
    const changed = compareDigests(before, await digestSnapshot(client))
    if (changed.length === 0) return 'unchanged'
    return isOpen(changed) ? 'not checked' : 'MISSED'
  }
  const { isWritten, digests } = await writeRepairs(client, verified)
  if (!isWritten) return 'refused'
  return digests.after === before.digest ? 'repaired' : 'REPAIRED INTO SOMETHING ELSE'
}

/** Applies the damages one after another. Each damage starts with the undamaged database. */
async function outcomesOf(
  all: readonly string[],
  damage: (at: number, before: DatabaseDigest) => Promise<Outcome | Failure>,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const before = await digestSnapshot(client)
  await client.query('SAVEPOINT damage')
  for (const [at, name] of all.entries()) {
    const outcome = await damage(at, before)
    await client.query('ROLLBACK TO SAVEPOINT damage')
    outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), name])
  }
  await client.query('ROLLBACK')
  if (process.env.TEST_LOG !== undefined) console.log(JSON.stringify([...outcomes], null, 1))
  console.log(`damages: ${[...outcomes].map(([outcome, { length }]) => `${length} ${outcome}`).join(', ')}`)
  return outcomes
}

function expectNoFailure(outcomes: Outcomes): void {
  expect(outcomes.get('MISSED') ?? []).toEqual([])
  expect(outcomes.get('REPAIRED INTO SOMETHING ELSE') ?? []).toEqual([])
}

/**
 * Whether the coverage report declares the damaged column as not checked. For damage to a whole row: whether the report
 * declares any column of the table as not checked.
 */
function isNotChecked({ table, column }: Pick<Damage, 'table' | 'column'>): boolean {
  const checks = readCoverage().get(table)!
  if (column !== undefined) return checks.get(column)!.kind === 'not checked'
  return [...checks.values()].some(({ kind }) => kind === 'not checked')
}

it('every verified table has test rows that can be damaged', async () => {
  const tables = [...new Set(columns.map(({ table }) => table))]
  const { rows } = await client.query<{ name: string }>(
    tables
      .map((name) => `SELECT '${name}' AS name WHERE NOT EXISTS (SELECT FROM ${name})`)
      .join(' UNION ALL '),
  )
  expect(rows).toEqual([])
})

it.each(seedsBeside(SEED))(
  'verify finds each damage of a checked column or row, and a repair restores the digest of the undamaged database or writes nothing, seed %i',
  { timeout: patient(3_600_000) },
  async (seed) => {
    const random = createRandom(seed)
    const chosen = allDamages()
      .map((damage) => ({ damage, place: random.fraction() }))
      .sort((a, b) => a.place - b.place)
      .slice(0, DAMAGES)
    const names = chosen.map(
      ({ damage: { kind, table, column } }) => `${kind} ${table}${column === undefined ? '' : `.${column}`}`,
    )
    const outcomes = await outcomesOf(names, async (at, before) => {
      const { damage } = chosen[at]!
      const [row, other] = await chooseRows(damage, seed)
      if (row === undefined || (damage.kind === 'swap' && other === undefined)) return 'impossible'
      const isOver = await hasEnded(damage.table, row)
      const isOtherOver =
        (damage.kind === 'swap' && (await hasEnded(damage.table, other!))) ||
        (damage.kind === 'change' && (await hasEnded(damage.table, row, damage.column)))
      const ended = isOver || isOtherOver
      const outcome = await outcomeOf(damage.text(row, other!), before, () => ended || isNotChecked(damage))
      // A swap, or a changed key, moves values from one row to another. If one of these two rows no longer exists on
      // the chain, a repair can correct only the other row.
      const isHalfHeld = damage.kind === 'swap' ? ended : isOver !== isOtherOver && damage.kind === 'change'
      return isHalfHeld && outcome === 'REPAIRED INTO SOMETHING ELSE' ? 'not checked' : outcome
    })
    expectNoFailure(outcomes)
    if (seed === SEED) expect(outcomes.get('repaired') ?? []).not.toEqual([])
  },
)

it(
  'verify finds damages of fixtures/damages.txt in a checked column or row, and a repair restores the digest of the undamaged database or writes nothing',
  { timeout: patient(3_600_000) },
  async () => {
    const lines = (await readFile(join(import.meta.dirname, '../fixtures/damages.txt'), 'utf8'))
      .trim()
      .split('\n')
    const chosen = lines.slice(0, DAMAGES)
    const names = chosen.map((line) => line.slice(0, line.indexOf('|')))
    const outcomes = await outcomesOf(names, (at, before) =>
      outcomeOf(chosen[at]!.slice(names[at]!.length + 1), before, (changed) =>
        changed.every((table) => isNotChecked({ table }) || endingTable(table) !== undefined),
      ),
    )
    expectNoFailure(outcomes)
  },
)
