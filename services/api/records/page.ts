import { setImmediate } from 'node:timers/promises'
import { packRows, unpackRows } from '../database/index.ts'
import { readPageKeys } from '../planner/index.ts'
import { answerTooLarge } from '../request/index.ts'
import { partsBySize, TooMuchAtOnce } from './sizes/index.ts'
import type { NamedSchema } from '../endpoint/index.ts'
import type { Session } from '../database/index.ts'
import type { Statement, Sql } from '../sql/index.ts'
import type { Json } from '../json/index.ts'
import type { PagePlan, PageResult } from '../planner/index.ts'
import type { FoundFragments, FragmentKind, Fragments, WantedFragments } from './fragments/index.ts'
import { bind, joinSql, PreparedNames, raw, sql } from '../sql/index.ts'

/**
 * Reader of the records of one type.
 *
 * A page is described by a query of its keys with two columns: `k`, the key, and `n`, a number that ascends in the
 * order of the page. A row whose `k` is null is a marker: the row budget ran out before the page was complete.
 */
export interface RecordKind {
  readonly schema: NamedSchema
  /** SQL type of the keys of the records. */
  readonly keyType: string
  /**
   * Reads the records of a page in the order of the page. A key without a row is skipped. One statement reads the
   * records. If the page query must be planned for its values (`PagePlan.isFixed` is false), a statement before it
   * reads the keys. If shared fragments are not cached, a statement after it reads the fragments.
   */
  readPage(session: Session, plan: PagePlan): Promise<readonly Json[]>
  /** Reads records by key, in the order of the keys. A key without a row is absent from the result. */
  readKeys(session: Session, keys: readonly string[]): Promise<ReadonlyMap<string, Json>>
}

/** Rows of records that one statement has read, before their shared fragments are added. */
export interface PendingRecords {
  /** Fragments that have to be loaded. */
  readonly versions: WantedFragments
  /**
   * Assembles the records of one statement. Returns the records by key, in the order of the page.
   * @param before number of records that come earlier on the page.
   */
  readonly assemble: (found: FoundFragments, before?: number) => Map<string, Json>
}

/** Selects the data of records of one type, and assembles the records. */
export interface Assembler {
  readonly schema: NamedSchema
  /** SQL type of the keys of the records. */
  readonly keyType: string
  /** @param keys name of a relation with the keys of the records (`k`). */
  readonly select: (keys: string) => Selection
  /** Number of columns that `select` returns. */
  readonly columnCount: number
  /**
   * Converts the selected columns to records.
   * @param keys keys of the records in the order of the page; default: the order of the records does not matter.
   */
  readonly read: (texts: PageTexts, keys?: readonly string[]) => PendingRecords
  /** Selects the sizes of records as packed rows: key, bytes of the record, and bytes that are read for the record. */
  readonly measure?: (keys: string) => Selection
  /** A faster statement for a single key `$1`. The statement returns one text. */
  readonly one?: {
    readonly statement: Required<Pick<Statement, 'name' | 'text'>>
    /** @param text text that the statement returned; undefined if it returned no row. */
    readonly read: (text: string | undefined) => PendingRecords
  }
}

/** Creates the reader of a record type from its assembler, which selects data and converts the data to JSON records. */
export function recordKind(fragments: Fragments, assembler: Assembler): RecordKind {
  const { keyType, one } = assembler
  async function assemble(session: Session, pending: PendingRecords): Promise<Map<string, Json>> {
    return pending.assemble(await fragments.load(session, pending.versions))
  }
  async function readKeysAtOnce(session: Session, keys: readonly string[]): Promise<Map<string, Json>> {
    if (keys.length === 1 && one) {
      const { name, text } = one.statement
      const rows = await session.query<[string]>({ name, text, values: keys })
      return assemble(session, one.read(rows[0]?.[0]))
    }
    const texts = await readKeysTexts(session, keys, assembler.select(PAGE_KEYS), keyType)
    return assemble(session, assembler.read(texts, keys))
  }
  async function readPlanned(session: Session, plan: PagePlan): Promise<PageResult<Map<string, Json>>> {
    try {
      const texts = await readPageTexts(session, plan, assembler.select(PAGE_KEYS), keyType)
      if ('hits' in texts) return texts
      return { records: await assemble(session, assembler.read(texts.records.texts, texts.records.keys)) }
    } catch (error) {
      if (!(error instanceof TooMuchAtOnce)) throw error
    }
    return session.snapshot(async () => {
      const found = await readPageKeys(session, plan)
      if ('hits' in found) return found
      return { records: await readInParts({ session, fragments, assembler }, found.records) }
    })
  }
  return {
    schema: assembler.schema,
    keyType,
    async readPage(session, first) {
      let plan = first
      for (;;) {
        const found = await readPlanned(session, plan)
        if ('records' in found) return [...found.records.values()]
        plan = plan.again(found.hits)
      }
    },
    async readKeys(session, keys) {
      if (keys.length === 0) return new Map()
      try {
        return await readKeysAtOnce(session, keys)
      } catch (error) {
        if (!(error instanceof TooMuchAtOnce)) throw error
      }
      return readInParts({ session, fragments, assembler }, keys)
    },
  }
}

interface PartsOfRecords {
  readonly session: Session
  readonly fragments: Fragments
  readonly assembler: Assembler
}

/**
 * Measures records before their texts leave the database, then reads the records in parts that are small enough for the
 * memory.
 */
async function readInParts(
  { session, fragments, assembler }: PartsOfRecords,
  keys: readonly string[],
): Promise<Map<string, Json>> {
  const { keyType, measure } = assembler
  const sizes = measure ? await readSizes(session, keys, measure(PAGE_KEYS), keyType) : []
  const { maxBytes } = fragments
  const items = sizes.map(({ bytes }) => bytes)
  const bytes = items.reduce((sum, size) => sum + size, 0)
  if (bytes > maxBytes) throw answerTooLarge({ bytes, maxBytes, items })
  const { tooMuch: _unlimited, ...selection } = assembler.select(PAGE_KEYS)
  const records = new Map<string, Json>()
  const known = measure ? sizes.map(({ key }) => key) : keys
  for (const part of partsBySize(
    known,
    sizes.map(({ readBytes }) => readBytes),
  )) {
    const pending = assembler.read(await readKeysTexts(session, part, selection, keyType), part)
    const found = await fragments.loadAll(session, pending.versions)
    for (const [key, record] of pending.assemble(found, records.size)) records.set(key, record)
    await setImmediate()
  }
  return records
}

interface RecordSize {
  readonly key: string
  readonly bytes: number
  readonly readBytes: number
}

async function readSizes(
  session: Session,
  keys: readonly string[],
  selection: Selection,
  keyType: string,
): Promise<RecordSize[]> {
  const [packed] = await readKeysTexts(session, keys, selection, keyType)
  return inOrder(unpackRows<[string, string, string]>(packed), keys).map(([key, bytes, readBytes]) => ({
    key,
    bytes: Number(bytes),
    readBytes: Number(readBytes),
  }))
}

/** Sorts rows, whose first field is the key, in the order of the keys. A key without a row is skipped. */
export function inOrder<Row extends readonly string[]>(rows: readonly Row[], keys: readonly string[]): Row[] {
  const byKey = new Map(rows.map((row) => [row[0], row]))
  return keys.map((key) => byKey.get(key)).filter((row) => row !== undefined)
}

/** Merges the keys of fragments that several groups of records need. */
export function wantedTogether(...wanted: readonly WantedFragments[]): WantedFragments {
  const all = new Map<FragmentKind, Map<string, string>>()
  for (const each of wanted) {
    for (const [kind, versions] of each) all.set(kind, new Map([...(all.get(kind) ?? []), ...versions]))
  }
  return all
}

/**
 * Parts of a statement for the keys of a page: WITH items, and the columns of the single row that the statement
 * returns.
 */
export interface Selection {
  readonly ctes: readonly Sql[]
  readonly columns: readonly Sql[]
  /** SQL expression: whether the data is too large to be read at once. If undefined, the data is never too large. */
  readonly tooMuch?: string
}

/** Columns of a selection: packed texts, null if there are no rows. */
export type PageTexts = readonly (string | null)[]

/** Texts of a page, and the keys of its records in the order of the page. */
interface TextsOfPage {
  readonly texts: PageTexts
  readonly keys: readonly string[]
}

/** Name of the relation from which a selection reads the keys `k` of a page. */
const PAGE_KEYS = 'known'

/**
 * Names of prepared statements for pages. The number is limited, because a prepared statement takes memory on every
 * connection.
 */
const pageNames = new PreparedNames(300)
/**
 * Names of prepared statements that read given keys. There is one statement for each record type, and one for each
 * combination of types that are read together.
 */
const keysNames = new PreparedNames(200)

/**
 * Reads the texts of a page. If the page query may be prepared (`isFixed`), one prepared statement reads keys and
 * records. Otherwise a first statement reads the keys, and a prepared statement reads the records, because planning one
 * statement for both takes longer than reading the records. The two statements see the same snapshot.
 * @param page query of the keys `k` and their positions `n`. A row whose `k` is null is a marker: the row budget ran
 * out, and `n` is the number of hits before the marker.
 * @param keyType SQL type of the keys.
 * @throws TooMuchAtOnce if the data is too large to be read at once.
 */
async function readPageTexts(
  session: Session,
  page: PagePlan,
  selection: Selection,
  keyType: string,
): Promise<PageResult<TextsOfPage>> {
  const whole = page.isFixed ? pageNames.prepared(wholePage(page.keys, selection).render()) : undefined
  if (whole?.name === undefined) {
    return session.snapshot(async () => {
      const found = await readPageKeys(session, page)
      if ('hits' in found) return found
      const keys = found.records
      return { records: { texts: await readKeysTexts(session, keys, selection, keyType), keys } }
    })
  }
  type Row = [number | bigint | null, string | null, boolean | null, ...(string | null)[]]
  const [row] = await session.query<Row>({ ...whole, reason: page.reason })
  const [hits, keys, isTooMuch, ...texts] = row!
  if (isTooMuch === true) throw new TooMuchAtOnce()
  return hits === null
    ? { records: { texts, keys: unpackRows(keys).map(([key]) => key!) } }
    : { hits: Number(hits) }
}

function wholePage(keys: Sql, selection: Selection): Sql {
  const { items, columns, from } = guarded([selection])
  const known = raw(`${PAGE_KEYS} AS MATERIALIZED (SELECT k FROM page WHERE ${HITS} IS NULL)`)
  const order = raw(`(SELECT ${packRows(['k'], 'n')} FROM page)`)
  return sql`WITH page AS MATERIALIZED (${keys}), ${joinSql([known, ...items], ', ')}
    SELECT ${joinSql([raw(HITS), order, ...columns], ', ')} ${from}`
}

/**
 * WITH items, columns and FROM clause of selections. The first column is true if the selected data is too large; the
 * other columns are then null.
 */
function guarded(selections: readonly Selection[]): { items: Sql[]; columns: Sql[]; from: Sql } {
  const items = selections.flatMap(({ ctes }) => ctes)
  const columns = selections.flatMap((selection) => selection.columns)
  const conditions = selections.flatMap(({ tooMuch }) => tooMuch ?? [])
  if (conditions.length === 0) return { items, columns: [raw('NULL::boolean'), ...columns], from: raw('') }
  // PostgreSQL runs a subquery without outer references only when its value is needed. If the data is too large, the
  // CASE skips the subqueries that read the data. `coalesce` is for the sum of sizes, which is null if there are no
  // rows.
  const guard = cte('guard', `SELECT coalesce(${conditions.join(' OR ')}, false) AS is_too_much`)
  return {
    items: [...items, guard],
    columns: [
      raw('guard.is_too_much'),
      ...columns.map((column) => sql`CASE WHEN NOT guard.is_too_much THEN ${column} END`),
    ],
    from: raw('FROM guard'),
  }
}

/** Number of hits before the marker of a page whose row budget ran out; null for a complete page. */
const HITS = '(SELECT min(n) FROM page WHERE k IS NULL)'

/**
 * Runs a selection for the given keys in one statement.
 * @param keyType SQL type of the keys.
 */
async function readKeysTexts(
  session: Session,
  keys: readonly string[],
  selection: Selection,
  keyType: string,
): Promise<PageTexts> {
  if (keys.length === 0) return selection.columns.map(() => null)
  const [texts] = await readTogether(session, [{ keys, type: keyType, relation: PAGE_KEYS, selection }])
  return texts!
}

/**
 * Runs several selections in one statement, each for its own keys.
 * @returns the texts of each selection.
 * @throws TooMuchAtOnce if the data is too large to be read at once.
 */
export async function readTogether(
  session: Session,
  parts: readonly {
    readonly keys: readonly string[]
    readonly type: string
    readonly relation: string
    readonly selection: Selection
  }[],
): Promise<PageTexts[]> {
  const keys = parts.map(
    // Numbers are bound as one text, because the driver would quote the elements of an array one by one.
    ({ keys, type, relation }) =>
      sql`${raw(relation)} AS MATERIALIZED (SELECT k FROM unnest(${bind(
        type === 'text' ? keys : `{${keys.join(',')}}`,
        `${type}[]`,
      )}) AS u(k))`,
  )
  const { items, columns, from } = guarded(parts.map(({ selection }) => selection))
  const statement = sql`WITH ${joinSql([...keys, ...items], ', ')} SELECT ${joinSql(columns, ', ')} ${from}`
  const [row] = await session.query<[boolean | null, ...(string | null)[]]>(
    keysNames.prepared(statement.render()),
  )
  const [isTooMuch, ...texts] = row!
  if (isTooMuch === true) throw new TooMuchAtOnce()
  let at = 0
  return parts.map(({ selection }) => texts.slice(at, (at += selection.columns.length)))
}

/** WITH item `name AS MATERIALIZED (query)`. The query must be text of this program. */
export function cte(name: string, query: string): Sql {
  return raw(`${name} AS MATERIALIZED (${query})`)
}
