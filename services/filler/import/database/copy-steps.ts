import { copyLine } from '../../store/index.ts'
import { literal, assetsPart, copyParts } from './copy-parts.ts'
import type { CopyPart, PartContext } from './copy-parts.ts'
import { completeAssetLine } from './asset-lines.ts'
import type { FieldsToRepair } from './attribute-fixes.ts'
import { placeEvents } from './bid-places.ts'
import { EventRows } from './event-rows.ts'
import type { EventFacts, StoredEvents } from './event-rows.ts'
import { lastSequenceBefore, readEvents } from './event-window.ts'
import type { UndoneSource } from './old-undo.ts'
import type { MapPacker } from './packed-maps.ts'
import { copyAcross, copyText } from './workers.ts'
import type { ImportStep, ImportWorker } from './workers.ts'

/** Span of block time whose events one step copies, ms. */
export const WINDOW_MS = 600_000

/**
 * Returns a function that builds the SQL condition that a column has none of the given keys. The keys are numbers or
 * texts.
 */
function without(keys: readonly string[]): (column: string) => string {
  return (column) =>
    keys.length === 0 ? 'true' : `${column}::text <> ALL (ARRAY[${keys.map(literal).join(', ')}]::text[])`
}

/**
 * Returns a function that builds the SQL condition that a column has one of the given keys. The keys are numbers or
 * texts.
 */
export function among(keys: readonly string[], isNumeric: boolean): (column: string) => string {
  const list = isNumeric ? keys.join(', ') : keys.map(literal).join(', ')
  return (column) => (keys.length === 0 ? 'false' : `${column} IN (${list})`)
}

/** Lowest and highest key of a table; null if the table is empty. */
export async function keyRange(
  context: PartContext,
  ranges: { readonly from: string; readonly column: string },
): Promise<readonly [bigint, bigint] | null> {
  const [row] = await context.source.query<{ low: string | null; high: string | null }>(
    `SELECT min(${ranges.column})::text AS low, max(${ranges.column})::text AS high FROM ${ranges.from}`,
  )
  return row?.low == null || row.high == null ? null : [BigInt(row.low), BigInt(row.high)]
}

/**
 * Splits low..high into ranges of `width` keys. Each range starts at a multiple of `width`, so that a resumed import
 * has the same steps.
 */
export function* rangesOf(low: bigint, high: bigint, width: number): Generator<readonly [bigint, bigint]> {
  const step = BigInt(width)
  for (let from = (low / step) * step; from <= high; from += step) yield [from, from + step]
}

/**
 * Creates the function that converts a COPY line of the source database to a COPY line of the target database. Each
 * copy step creates a function for its range of keys: `from` inclusive, `to` exclusive.
 */
type LineChange = (worker: ImportWorker, from: bigint, to: bigint) => Promise<(line: string) => string>

async function stepsOf(
  context: PartContext,
  undone: UndoneSource,
  part: CopyPart,
  change?: LineChange,
): Promise<ImportStep[]> {
  const keys = part.entity === null ? [] : undone.keys(part.entity)
  const steps: ImportStep[] = []
  const range = part.ranges === null ? null : await keyRange(context, part.ranges)
  if (part.ranges === null) {
    steps.push({
      name: part.table,
      run: (worker) => copyAcross(worker, part.select(without(keys)), part),
    })
  } else if (range !== null) {
    for (const [from, to] of rangesOf(...range, part.ranges.width))
      steps.push({
        name: `${part.table} ${from}`,
        run: async (worker) => {
          const inRange = keys.filter((key) => BigInt(key) >= from && BigInt(key) < to)
          const rest = without(inRange)
          const select = part.select(
            (column) => `${column} >= ${from} AND ${column} < ${to} AND ${rest(column)}`,
          )
          return copyAcross(worker, select, part, await change?.(worker, from, to))
        },
      })
  }
  if (keys.length === 0) return steps
  const isNumeric = keys.every((key) => /^-?\d+$/.test(key)) && part.ranges !== null
  // Read the earlier values of the changed rows now: the caller closes the session of `undone` before the steps run.
  const text = await undone.copyLines(part.select(among(keys, isNumeric)))
  const lines = text === '' ? [] : text.slice(0, -1).split('\n')
  steps.push({
    name: `${part.table} (reversible)`,
    run: async (worker) => {
      const ids = isNumeric ? keys.map(BigInt) : []
      const low = ids.reduce((a, b) => (b < a ? b : a), ids[0] ?? 0n)
      const high = ids.reduce((a, b) => (b > a ? b : a), low)
      const changeLine = (await change?.(worker, low, high + 1n)) ?? ((line: string) => `${line}\n`)
      return copyText(worker.target, part, lines.map(changeLine))
    },
  })
  return steps
}

/** Steps that copy tables whose rows need no conversion. */
export async function plainSteps(context: PartContext, undone: UndoneSource): Promise<ImportStep[]> {
  const steps: ImportStep[] = []
  for (const part of copyParts(context)) steps.push(...(await stepsOf(context, undone, part)))
  return steps
}

/**
 * Steps that copy the assets. The steps read the global sequence of each mint from `import.mints`, so the steps that
 * copy events must run before.
 */
export async function assetSteps(
  context: PartContext,
  undone: UndoneSource,
  fieldsToRepair: FieldsToRepair,
): Promise<ImportStep[]> {
  const part = assetsPart(context)
  if (part === null) return []
  return stepsOf(context, undone, part, async ({ target }, from, to) => {
    const { rows } = await target.query<{ asset_id: bigint; seq: bigint }>(
      'SELECT asset_id, seq FROM import.mints WHERE asset_id >= $1 AND asset_id < $2',
      [from, to],
    )
    const sequences = new Map(rows.map((row) => [row.asset_id.toString(), row.seq.toString()]))
    return (line) => completeAssetLine(line, sequences, fieldsToRepair)
  })
}

/** Column names of each append-only target table. */
export type AppendColumns = ReadonlyMap<string, readonly string[]>

/**
 * Totals for the report of the import: unknown actions, by action name, and attribute maps that could not be packed.
 */
export interface EventTotals {
  readonly unknown: Map<string, number>
  unpacked: number
}

export interface EventWork {
  readonly stored: StoredEvents
  readonly packer: MapPacker
  readonly columns: AppendColumns
  readonly totals: EventTotals
}

/** Steps that copy logs, transfers, bids, payouts and the transactions that contain them, one step per time window. */
export function eventSteps(
  context: PartContext,
  window: { readonly firstMs: number; readonly lastMs: number; readonly widthMs: number },
  { stored, packer, columns, totals }: EventWork,
): ImportStep[] {
  const steps: ImportStep[] = []
  const { widthMs } = window
  for (
    let fromMs = Math.floor(window.firstMs / widthMs) * widthMs;
    fromMs <= window.lastMs;
    fromMs += widthMs
  )
    steps.push({
      name: `events ${fromMs}`,
      run: async (worker) => {
        const span = { fromMs, toMs: fromMs + widthMs }
        const events = await readEvents(worker.source, context, span)
        if (events.length === 0) return 0
        const hasBids = events.some(({ kind }) => kind === 'bid')
        const before = hasBids ? await lastSequenceBefore(worker.source, context, fromMs) : null
        const rows = new EventRows(context.accounts, stored, packer)
        rows.take(placeEvents(events, before))
        addTotals(totals, rows.facts)
        return writeEvents(worker, rows, columns)
      },
    })
  return steps
}

function addTotals(totals: EventTotals, facts: EventFacts): void {
  totals.unpacked += facts.unpacked
  for (const [name, count] of facts.unknown) totals.unknown.set(name, (totals.unknown.get(name) ?? 0) + count)
}

async function writeEvents(
  { target }: ImportWorker,
  rows: EventRows,
  columns: AppendColumns,
): Promise<number> {
  let written = 0
  for (const [{ name: table }, { appended }] of rows.unit.tables) {
    if (appended.count === 0) continue
    if (appended.packed.length > 0)
      written += await copyText(target, { table, columns: appended.columns }, appended.packed)
    const names = columns.get(table)!
    const rest = appended.rows.map((row) => copyLine(names, row))
    if (rest.length > 0) written += await copyText(target, { table, columns: names }, rest)
  }
  const { mints, medians, startingBids, auctionChanges, templates, typedSchemas, creations } = rows.facts
  const copyFacts = async (
    table: string,
    columns: readonly string[],
    list: readonly (readonly (bigint | number | string | boolean | null)[])[],
  ): Promise<void> => {
    const lines = list.map((values) => `${values.map((value) => value ?? '\\N').join('\t')}\n`)
    if (lines.length > 0) await copyText(target, { table: `import.${table}`, columns }, lines)
  }
  await copyFacts('mints', ['asset_id', 'seq'], mints)
  await copyFacts('medians', ['sale_id', 'median'], medians)
  await copyFacts('starting_bids', ['auction_id', 'amount'], startingBids)
  await copyFacts('auction_changes', ['auction_id', 'block', 'time_ms'], auctionChanges)
  await copyFacts('templates', ['template_id', 'is_brief'], templates)
  await copyFacts('typed_schemas', ['collection_name', 'schema_name'], typedSchemas)
  await copyFacts('creations', ['collection_name', 'schema_name'], creations)
  return written
}
