import { FatalError } from '../../core/errors/index.ts'
import { CommitUnit } from './commit-unit.ts'
import type {
  Aggregate,
  Completion,
  Derivation,
  DerivedKey,
  DerivedStep,
  UnitClock,
} from '../rows/operations.ts'
import { flushTable } from './flush.ts'
import type { TableLayout } from './layout.ts'
import type { PendingTable, RowKey } from './pending-rows.ts'
import { rowKey } from './pending-rows.ts'
import { namingRow, namingWork } from './refused-row.ts'
import type { WriterSession } from './session.ts'
import type { MutableRow, Table } from '../../core/model/index.ts'

/**
 * Derived steps of a store, indexed by the tables that trigger the steps; built once. A completion is a step that fills
 * in columns of new rows from other tables.
 */
export interface DerivedPlan {
  readonly steps: readonly (Derivation | Aggregate)[]
  readonly completions: ReadonlyMap<string, Completion>
  /** Tables with aggregates, and the columns that the aggregates read. */
  readonly observed: ReadonlyMap<string, readonly string[]>
  /** Table name to the derivations that changes of the table trigger. */
  readonly wakes: ReadonlyMap<string, readonly Wake[]>
}

interface Wake {
  readonly derivation: Derivation
  readonly columns: readonly string[]
  readonly key: string
}

/** Indexes the derived steps of the handlers by the tables that trigger the steps. */
export function planDerived(steps: readonly DerivedStep[]): DerivedPlan {
  const completions = new Map<string, Completion>()
  const observed = new Map<string, string[]>()
  const wakes = new Map<string, Wake[]>()
  for (const step of steps) {
    if (step.kind === 'completion') completions.set(step.table.name, step)
    else if (step.kind === 'aggregate')
      observed.set(step.table.name, [...new Set([...(observed.get(step.table.name) ?? []), ...step.columns])])
    else
      for (const { table, columns, key } of step.sources)
        wakes.set(table, [...(wakes.get(table) ?? []), { derivation: step, columns, key }])
  }
  return { steps: steps.filter((step) => step.kind !== 'completion'), completions, observed, wakes }
}

/** A row that an aggregate observes: its key, and its values before the unit. */
interface ObservedRow {
  readonly key: MutableRow
  readonly before: MutableRow | null
}

interface UnitWriterOptions {
  readonly session: WriterSession
  readonly layouts: ReadonlyMap<Table, TableLayout>
  readonly plan: DerivedPlan
  readonly clock: UnitClock
  /** Block under which the undo journal records old rows; null without a journal. */
  readonly undoBlock: number | null
}

/**
 * Writes one commit unit inside the open transaction: completes new rows, writes all rows, then runs the derivations
 * and aggregates step by step.
 */
export class UnitWriter {
  /** Tables that the unit changed. */
  readonly written = new Set<TableLayout>()
  readonly #session: WriterSession
  readonly #layouts: ReadonlyMap<Table, TableLayout>
  readonly #plan: DerivedPlan
  readonly #clock: UnitClock
  readonly #undoBlock: number | null
  readonly #due = new Map<Derivation, Set<DerivedKey>>()
  readonly #observed = new Map<string, Map<RowKey, ObservedRow>>()

  constructor({ session, layouts, plan, clock, undoBlock }: UnitWriterOptions) {
    this.#session = session
    this.#layouts = layouts
    this.#plan = plan
    this.#clock = clock
    this.#undoBlock = undoBlock
  }

  async write(unit: CommitUnit): Promise<void> {
    for (const [derivation, keys] of unit.rechecks) this.#due.set(derivation, new Set(keys))
    const pending = [...unit.tables.values()]
    // Write the tables without a completion first: a completion fills in columns of new rows from the rows of these
    // tables.
    const isCompleted = ({ table }: PendingTable) => this.#plan.completions.has(table.name)
    for (const table of pending) if (!isCompleted(table)) await this.#flush(table)
    for (const table of pending) {
      if (!isCompleted(table)) continue
      await this.#complete(this.#plan.completions.get(table.table.name)!, table)
      await this.#flush(table)
    }
    for (const step of this.#plan.steps) {
      if (step.kind === 'derivation') await this.#derive(step)
      else await this.#aggregate(step)
    }
    for (const derivation of this.#due.keys())
      throw new FatalError('INTERNAL', `derivation ${derivation.name} was requested after it had run`)
  }

  async #flush(pending: PendingTable): Promise<void> {
    const layout = this.#layouts.get(pending.table)
    if (!layout) throw new FatalError('INTERNAL', `table ${pending.table.name} was not given to the store`)
    if (this.#plan.observed.has(pending.table.name)) await this.#observe(layout, pending)
    await flushTable(this.#session, layout, pending, this.#undoBlock).catch((error: unknown) => {
      throw namingRow(error, layout, pending)
    })
    this.written.add(layout)
    for (const wake of this.#plan.wakes.get(pending.table.name) ?? []) this.#wake(wake, pending)
  }

  #wake({ derivation, columns, key }: Wake, pending: PendingTable): void {
    for (const { kind, row } of pending.rows.values()) {
      if (kind === 'insert') continue
      if (kind === 'remove' || columns.some((column) => column in row))
        this.#ask(derivation, row[key] as DerivedKey)
    }
  }

  #ask(derivation: Derivation, key: DerivedKey): void {
    const id = typeof key === 'number' ? BigInt(key) : key
    const keys = this.#due.get(derivation)
    if (keys) keys.add(id)
    else this.#due.set(derivation, new Set([id]))
  }

  async #complete(completion: Completion, pending: PendingTable): Promise<void> {
    const rows: MutableRow[] = []
    const keys = new Set<bigint>()
    for (const { kind, row } of pending.rows.values()) {
      if (kind !== 'insert') continue
      rows.push(row)
      for (const key of completion.keysOf(row)) keys.add(key)
    }
    if (rows.length === 0) return
    const found = await this.#session.select<MutableRow>(completion.statement, [[...keys]])
    const facts = new Map(found.map((fact) => [BigInt(fact.key as bigint | number), fact]))
    for (const row of rows) completion.complete(row, facts)
  }

  async #derive(derivation: Derivation): Promise<void> {
    const keys = this.#due.get(derivation)
    this.#due.delete(derivation)
    if (derivation.keys !== 'none' && !keys) return
    const { nowMs, beforeMs } = this.#clock
    const values = keys ? [[...keys], ...(derivation.clock ? [nowMs] : [])] : [nowMs, beforeMs]
    const rows = await this.#session
      .select<MutableRow>(derivation.statement, values)
      .catch((error: unknown) => {
        throw namingWork(error, `derived rows cannot be computed (${derivation.name})`)
      })
    if (rows.length === 0) return
    await this.#writeDerived((sink) => derivation.apply(rows, sink))
  }

  /** Remembers the values of rows before the unit first changes them. */
  async #observe(layout: TableLayout, pending: PendingTable): Promise<void> {
    const { name, key } = pending.table
    const known = this.#observed.get(name) ?? new Map<RowKey, ObservedRow>()
    this.#observed.set(name, known)
    const unknown: MutableRow[] = []
    for (const [id, { kind, row }] of pending.rows) {
      if (known.has(id)) continue
      const keyRow = Object.fromEntries(key.map((column) => [column, row[column]!]))
      if (kind === 'insert') known.set(id, { key: keyRow, before: null })
      else unknown.push(keyRow)
    }
    const images = await this.#readObserved(layout, unknown)
    for (const row of unknown) {
      const id = rowKey(key, row)
      known.set(id, { key: row, before: images.get(id) ?? null })
    }
  }

  async #aggregate(step: Aggregate): Promise<void> {
    const touched = this.#observed.get(step.table.name)
    if (!touched || touched.size === 0) return
    const layout = [...this.#layouts.values()].find(({ table }) => table.name === step.table.name)!
    const images = await this.#readObserved(
      layout,
      Array.from(touched.values(), ({ key }) => key),
    )
    await this.#writeDerived((sink) => {
      for (const [id, { before }] of touched) step.apply(before, images.get(id) ?? null, sink, this.#clock)
    })
  }

  async #readObserved(layout: TableLayout, keys: readonly MutableRow[]): Promise<Map<RowKey, MutableRow>> {
    if (keys.length === 0) return new Map()
    const identity: readonly string[] = layout.table.key
    const wanted = new Set([...identity, ...this.#plan.observed.get(layout.table.name)!])
    const list = [...wanted].map((column) => `t."${column}"`).join(', ')
    const source = await this.#session.offer(
      layout,
      layout.columns.filter((column) => identity.includes(column.name)),
      keys,
    )
    const rows = await this.#session.selectOver<MutableRow>(
      source,
      `SELECT ${list} FROM ${source.sql} s JOIN ${layout.table.name} t ON ${identity
        .map((column) => `t."${column}" = s."${column}"`)
        .join(' AND ')}`,
    )
    return new Map(rows.map((row) => [rowKey(identity, row), row]))
  }

  /** Writes the row operations of a derived step, and schedules the derivations that these operations trigger. */
  async #writeDerived(work: (sink: CommitUnit) => void): Promise<void> {
    const unit = new CommitUnit(this.#undoBlock !== null)
    work(unit)
    for (const pending of unit.tables.values()) await this.#flush(pending)
    for (const [derivation, keys] of unit.rechecks) for (const key of keys) this.#ask(derivation, key)
  }
}
