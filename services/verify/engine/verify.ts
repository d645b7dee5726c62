import type pg from 'pg'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { reportCoverage } from '../checked/index.ts'
import type { CoverageReport } from '../checked/index.ts'
import { findDerivedViolations } from '../../core/derived/index.ts'
import type { ChainSource } from '../sources/index.ts'
import { labelOf, verifiedTables } from '../tables/index.ts'
import type { Family } from '../../core/model/contract/index.ts'
import type { VerifiedTable } from '../tables/index.ts'
import { compareTable } from './compare-table.ts'
import type { Suspect } from './compare-table.ts'
import { differenceOf } from './difference.ts'
import type { Difference } from './difference.ts'
import { ChainFormats } from './formats.ts'
import { ProgressMeter } from './progress.ts'
import type { TableReport, VerifyProgress, VerifyReport } from './report.ts'
import { POSITION_SQL, settleSuspects } from './suspects.ts'
import type { Settled } from './suspects.ts'

/** Maximum number of violating rows that a report names for one rule. */
const VIOLATIONS_SHOWN = 20

export interface VerifyOptions {
  /** Connection of the comparison: inside a transaction if `source.isFixed`, else outside any transaction. */
  readonly client: pg.ClientBase
  readonly source: ChainSource
  /** Tables to compare, by table name or by name in reports; default: all. */
  readonly tables?: readonly string[]
  /** Compares only the rows that belong to this collection. */
  readonly collection?: string
  /** Approximate number of random rows to compare in each table. */
  readonly sample?: number
  readonly signal: AbortSignal
  readonly onProgress?: (progress: VerifyProgress) => void
  readonly pollMs?: number
  readonly stallMs?: number
}

/** A difference with the data that a repair needs. */
export interface FoundDifference {
  readonly suspect: Suspect
  readonly difference: Difference
}

/** Result of a comparison, for the report and for a repair. */
export interface Verified {
  readonly report: VerifyReport
  readonly found: readonly FoundDifference[]
  /** The error that interrupted the comparison; null if it finished or was stopped. */
  readonly cause: RetryableError | null
  /** Families with rows that were not compared. Values that derive from rows of these families cannot be rewritten. */
  readonly unproven: ReadonlySet<Family>
  /** Reason why a repair must not remove the rows that the source lacks; null if the source proves their absence. */
  readonly absenceDoubt: string | null
}

function hasRows({ rows, differences }: TableReport): boolean {
  return rows + differences > 0
}

/** Names of the tables that can be compared. */
function tableNames(): string[] {
  return [...new Set(verifiedTables.map(({ name }) => name))]
}

/**
 * Compares the database with the chain: first every row of every table, then every derived rule. If the chain cannot
 * be read completely, the report states it instead of an exception.
 *
 * @throws FatalError `USAGE` for an unknown table.
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  const started = performance.now()
  const run = new Run(options)
  await run.all()
  const { found, cause, unproven } = run
  const { absenceDoubt } = options.source
  return { report: await run.report(started), found, cause, unproven, absenceDoubt }
}

function schemasOf(tables: readonly VerifiedTable[]): Set<string> {
  return new Set(['chain', 'state', ...tables.map(({ family }) => family)])
}

class Run {
  readonly found: FoundDifference[] = []
  cause: RetryableError | null = null
  unproven: ReadonlySet<Family> = new Set(verifiedTables.map(({ family }) => family))
  readonly #options: VerifyOptions
  #tables: TableReport[] = []
  readonly #suspects: Suspect[] = []
  readonly #notes: string[] = []
  #derived: VerifyReport['derived'] = null
  #coverage: CoverageReport | null = null
  readonly #incomplete: string[] = []
  #unfinished: string | null = null
  #formats: ChainFormats | null = null

  constructor(options: VerifyOptions) {
    this.#options = options
  }

  async all(): Promise<void> {
    const { client, source, collection, sample, tables } = this.#options
    const chosen = this.#choose()
    const contracts = await this.#readContracts(chosen)
    const indexed = chosen.filter(({ family }) => contracts.has(family))
    if (indexed.length === 0) this.#incomplete.push('no reader indexes the contracts of the requested tables')
    const imported = await client.query<{ accepted_gaps: string[] | null }>(
      "SELECT accepted_gaps FROM chain.imports WHERE kind = 'database'",
    )
    for (const gap of imported.rows.flatMap(({ accepted_gaps }) => accepted_gaps ?? []))
      this.#notes.push(
        `not checked, because the imported database lacked rows and the import accepted this: ${gap}`,
      )
    if (imported.rows.length > 0)
      this.#notes.push(
        'the imported database does not contain the RAM payer of some rows; verify does not compare the RAM payer of these rows',
      )
    const meter = new ProgressMeter(await this.#estimate(indexed), this.#options.onProgress)
    try {
      const wanted = await this.#findAnswered(indexed, contracts)
      if (wanted.some(({ family }) => family === 'assets')) {
        meter.begin('formats')
        this.#formats = await ChainFormats.read(source, contracts.get('assets')!, collection)
      }
      for (const table of wanted) {
        meter.begin(labelOf(table))
        await this.#table(table, contracts.get(table.family)!, meter)
      }
      await this.#settle(meter)
      if (tables === undefined && collection === undefined && sample === undefined) {
        await this.#derive(meter)
        this.#coverage = reportCoverage(schemasOf(indexed), wanted, await this.#countEnded(wanted))
        if (source.isWhole)
          this.unproven = new Set(
            indexed.filter((table) => !wanted.includes(table)).map(({ family }) => family),
          )
        for (const contract of this.#findEmpty(wanted, contracts))
          this.#incomplete.push(`neither the database nor the source has a row of ${contract}`)
      } else if (collection !== undefined && !this.#tables.some(hasRows))
        this.#incomplete.push(`neither the database nor the source has a row of collection ${collection}`)
    } catch (error) {
      if (!this.#options.signal.aborted && !(error instanceof RetryableError)) throw error
      this.cause = this.#options.signal.aborted ? null : (error as RetryableError)
      this.#unfinished = this.cause?.message ?? 'stopped'
    }
  }

  async report(started: number): Promise<VerifyReport> {
    const { client, source } = this.#options
    const { rows } = await client.query<{ num: number; id: string }>(POSITION_SQL)
    const [block] = rows
    if (block === undefined) this.#incomplete.unshift('the database has no block yet')
    if (!source.isWhole)
      this.#incomplete.push(
        'the source does not have every row, so rows that only the database has are not reported',
      )
    return {
      source: source.description,
      decoder: source.decoder,
      block: block ? { num: block.num, id: block.id } : null,
      tables: this.#tables,
      differences: this.found.map(({ difference }) => difference),
      derived: this.#derived,
      coverage: this.#coverage,
      incomplete: this.#incomplete,
      notes: [...this.#notes, ...(source.notes ?? [])],
      unfinished: this.#unfinished,
      seconds: (performance.now() - started) / 1_000,
    }
  }

  /** The contracts that readers index, by family. */
  async #readContracts(chosen: readonly VerifiedTable[]): Promise<Map<Family, string>> {
    const { client } = this.#options
    const { rows } = await client.query<{ family: Family; account: string; left_out_after: number | null }>(
      'SELECT family, account, left_out_after FROM chain.sources',
    )
    for (const { family, left_out_after: last } of rows)
      if (last !== null)
        this.#notes.push(
          `the configuration leaves ${family} out after block ${last}: its rows are not compared, and no rule that reads them is checked`,
        )
    for (const family of new Set(chosen.map((table) => table.family))) {
      if (rows.some((source) => source.family === family)) continue
      const names = chosen.filter((table) => table.family === family).map(({ name }) => `TABLE ${name}`)
      for (const name of names)
        if ((await client.query(`${name} LIMIT 1`)).rows.length > 0) {
          this.#incomplete.push(`the database has rows of ${family}, but no reader indexes this family`)
          break
        }
    }
    return new Map(
      rows
        .filter(({ left_out_after: last }) => last === null)
        .map(({ family, account }) => [family, account]),
    )
  }

  /**
   * The tables whose rows the source can list. Tables of assets are included only if the source also lists `config` and
   * `schemas`: the rows of these two tables contain the formats that decode attributes.
   */
  async #findAnswered(
    tables: readonly VerifiedTable[],
    contracts: ReadonlyMap<Family, string>,
  ): Promise<VerifiedTable[]> {
    const { source } = this.#options
    const asked = async (family: Family, contractTable: string) =>
      source.answers(contracts.get(family)!, contractTable)
    const hasFormats =
      tables.every(({ family }) => family !== 'assets') ||
      ((await asked('assets', 'config')) && (await asked('assets', 'schemas')))
    const answered: VerifiedTable[] = []
    for (const table of tables)
      if (await asked(table.family, table.contractTable))
        if (hasFormats || table.family !== 'assets') answered.push(table)
    const others = tables.filter((table) => !answered.includes(table)).map(labelOf)
    if (others.length > 0) this.#incomplete.push(`the source cannot list the rows of ${others.join(', ')}`)
    return answered
  }

  #choose(): VerifiedTable[] {
    const { tables, collection } = this.#options
    const unknown = (tables ?? []).filter(
      (name) => !verifiedTables.some((table) => table.name === name || labelOf(table) === name),
    )
    if (unknown.length > 0) {
      throw new FatalError(
        'USAGE',
        `verify compares no table named ${unknown.join(', ')}; verify compares these tables: ${tableNames().join(', ')}`,
      )
    }
    return verifiedTables.filter(
      (table) =>
        (tables === undefined || tables.includes(table.name) || tables.includes(labelOf(table))) &&
        (collection === undefined || table.collection !== undefined),
    )
  }

  /** Estimated number of rows to compare, from PostgreSQL's statistics. */
  async #estimate(tables: readonly VerifiedTable[]): Promise<number> {
    const { client, sample, collection } = this.#options
    if (sample !== undefined) return sample * tables.length
    if (collection !== undefined) return 0
    const { rows } = await client.query<{ rows: number }>(
      'SELECT coalesce(sum(greatest(reltuples, 0)), 0)::double precision AS rows FROM pg_class WHERE oid = ANY($1::regclass[])',
      [[...new Set(tables.map(({ name }) => name))]],
    )
    return rows[0]!.rows
  }

  async #table(table: VerifiedTable, contract: string, meter: ProgressMeter): Promise<void> {
    const { client, source, signal, collection, sample } = this.#options
    const context = this.#formats ?? { collectionFormat: [], formatOf: () => [] }
    const compared = await compareTable({
      database: client,
      source,
      table,
      contract,
      context,
      ...(collection === undefined ? {} : { collection }),
      ...(sample === undefined ? {} : { sample }),
      onRows: (count) => meter.add(count),
      signal,
    })
    this.#suspects.push(...compared.suspects)
    this.#tables.push({
      table: labelOf(table),
      contract,
      contractTable: table.contractTable,
      rows: compared.rows,
      deferred: source.isFixed ? 0 : compared.suspects.length,
      seen: 0,
      differences: 0,
    })
  }

  /** Counts the rows that no longer exist on the chain, such as burned assets, by table. */
  async #countEnded(tables: readonly VerifiedTable[]): Promise<CoverageReport['ended']> {
    const counts: { rows: string; count: number }[] = []
    for (const { ended, name, where } of tables) {
      if (ended === undefined || where === undefined) continue
      const { rows } = await this.#options.client.query<{ count: bigint }>(
        `SELECT count(*) FROM ${name} t WHERE NOT (${where})`,
      )
      counts.push({ rows: ended, count: Number(rows[0]!.count) })
    }
    return counts
  }

  /**
   * Contracts that have no rows, neither on the chain nor in the database. The reason is unknown, so empty tables do
   * not count as equal.
   */
  #findEmpty(tables: readonly VerifiedTable[], contracts: ReadonlyMap<Family, string>): string[] {
    return [...new Set(tables.map(({ family }) => family))].flatMap((family) => {
      const labels = new Set(tables.filter((table) => table.family === family).map(labelOf))
      const isFilled = this.#tables.some((table) => labels.has(table.table) && hasRows(table))
      return isFilled ? [] : [contracts.get(family)!]
    })
  }

  /** Reads differing rows again at later blocks. The rows of all tables are read again at the same blocks. */
  async #settle(meter: ProgressMeter): Promise<void> {
    const { client, source, signal, pollMs = 200, stallMs = 60_000 } = this.#options
    const settled: Settled = source.isFixed
      ? {
          differing: this.#suspects.map((suspect) => ({
            suspect,
            difference: differenceOf(suspect.table, suspect)!,
          })),
          agreed: [],
          open: [],
          reason: null,
        }
      : await settleSuspects(this.#suspects, {
          database: client,
          source,
          formats: this.#formats,
          signal,
          pollMs,
          stallMs,
          onRound: (open) => meter.begin(`${open} differing rows, read again`),
        })
    this.found.push(...settled.differing)
    const count = (suspects: readonly Suspect[], name: string) =>
      suspects.filter(({ table }) => labelOf(table) === name).length
    const differing = settled.differing.map(({ suspect }) => suspect)
    this.#tables = this.#tables.map((table) => ({
      ...table,
      seen: count(settled.agreed, table.table),
      differences: count(differing, table.table),
    }))
    if (settled.reason !== null) throw new RetryableError('VERIFY_UNFINISHED', settled.reason)
  }

  /** A filler writes rows and derived rows in one transaction, so one snapshot is consistent. */
  async #derive(meter: ProgressMeter): Promise<void> {
    const { client, source } = this.#options
    const report = (rule: string, done: number, of: number) =>
      meter.begin(`derived ${done + 1}/${of}, ${rule}`)
    if (source.isFixed) {
      this.#derived = await findDerivedViolations(client, VIOLATIONS_SHOWN, report)
      return
    }
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    try {
      this.#derived = await findDerivedViolations(client, VIOLATIONS_SHOWN, report)
    } finally {
      await client.query('ROLLBACK')
    }
  }
}
