import type { Difference, PlannedRepair, Repaired, Verified, VerifyProgress } from '../../verify/index.ts'

/** Maximum number of rows in a text report; `--json` lists all rows. */
const ROWS_SHOWN = 50

/** Progress of a comparison, as one terminal line. */
export function progressLine({ at, rows, of, rowsPerSecond, secondsLeft }: VerifyProgress): string {
  const left = secondsLeft === null ? '' : `, about ${durationText(secondsLeft)} left`
  const count = of > rows ? `${rows} of about ${Math.round(of)} rows` : `${rows} rows`
  return `\r\x1b[K${at}: ${count}, ${Math.round(rowsPerSecond)} rows/s${left}`
}

function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`
}

/** JSON form of the report, for scripts. */
export function reportJson({ report }: Verified): object {
  return {
    source: report.source,
    decoder: report.decoder,
    block_num: report.block?.num ?? null,
    block_id: report.block?.id ?? null,
    clean:
      report.unfinished === null &&
      report.incomplete.length === 0 &&
      report.differences.length === 0 &&
      (report.derived?.length ?? 0) === 0,
    unfinished: report.unfinished,
    seconds: report.seconds,
    notes: report.notes,
    tables: report.tables.map(({ contractTable, ...table }) => ({ ...table, contract_table: contractTable })),
    differences: report.differences,
    derived: report.derived,
    coverage: report.coverage,
    incomplete: report.incomplete,
  }
}

/** JSON form of the planned repairs, for scripts. */
export function repairJson(repairs: readonly PlannedRepair[]): object {
  return {
    repairs: repairs.map(({ found, impossible, statements }) => ({
      table: found.difference.table,
      key: found.difference.key,
      impossible,
      statements,
    })),
  }
}

/** Text form of the report, for people. */
export function reportText({ report }: Verified): string {
  const width = Math.max(...report.tables.map(({ table }) => table.length), 5)
  const lines = [
    `compared with ${report.source}, ${report.decoder === null ? 'whose rows are decoded already' : `decoded by ${report.decoder}`}`,
    report.block === null
      ? 'the database has no block yet'
      : `database at block ${report.block.num} ${report.block.id}`,
    '',
    `${'table'.padEnd(width)}  ${'rows'.padStart(12)}  ${'deferred'.padStart(9)}  ${'seen'.padStart(9)}  differ`,
    ...report.tables.map(
      ({ table, rows, deferred, seen, differences }) =>
        `${table.padEnd(width)}  ${String(rows).padStart(12)}  ${String(deferred).padStart(9)}  ${String(seen).padStart(9)}  ${String(differences).padStart(6)}`,
    ),
    '',
    ...report.differences.slice(0, ROWS_SHOWN).flatMap(differenceLines),
    ...more(report.differences.length - ROWS_SHOWN, 'rows that differ'),
    ...(report.derived ?? []).flatMap(({ rule, count, violations }) => [
      `derived: ${rule}: ${count} rows`,
      ...violations.slice(0, 5).map((text) => `  ${text}`),
      ...more(count - 5, 'rows').map((line) => `  ${line}`),
    ]),
    ...report.notes.map((note) => `note: ${note}`),
    ...report.incomplete.map((reason) => `incomplete: ${reason}`),
    ...coverageLines(report.coverage),
    summary(report),
  ]
  return `${lines.join('\n')}\n`
}

/** Lines with the numbers of compared, recomputed and unchecked columns. */
function coverageLines(coverage: Verified['report']['coverage']): string[] {
  if (coverage === null) return []
  const { compared, recomputed, notChecked, ended } = coverage
  const past = ended.filter(({ count }) => count > 0).map(({ rows, count }) => `${count} ${rows}`)
  return [
    `columns: ${compared} compared with the chain, ${recomputed} recomputed from other rows`,
    ...notChecked.map(({ reason, columns }) => `not checked: ${columns.length} columns: ${reason}`),
    ...(past.length === 0
      ? []
      : [
          `not checked: ${past.join(', ')}: the chain no longer has these rows, so only contradictions between rows are found`,
        ]),
  ]
}

function more(count: number, what: string): string[] {
  return count > 0 ? [`… and ${count} more ${what}`] : []
}

function summary(report: Verified['report']): string {
  const { tables, differences, derived, unfinished, seconds } = report
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const took = `${rows} rows of ${tables.length} tables in ${seconds.toFixed(1)} s`
  // A comparison that did not finish ends the command with an error. The error message names the reason.
  if (unfinished !== null) return `NOT FINISHED after ${took}.`
  const broken = derived?.length ?? 0
  const rules = derived === null ? 'derived values were not compared' : `${broken} derived rules broken`
  if (differences.length === 0 && broken === 0 && report.incomplete.length > 0)
    return `INCOMPLETE after ${took}; ${rules}.`
  if (differences.length === 0 && broken === 0) return `No differences: ${took}; ${rules}.`
  return `${differences.length} rows differ, ${rules}: ${took}.`
}

const SHOWN = 120

function differenceLines({ table, key, kind, columns }: Difference): string[] {
  if (kind === 'missing') return [`${table} ${key}: the database lacks this row`]
  if (kind === 'extra') return [`${table} ${key}: the chain lacks this row`]
  return [
    `${table} ${key}`,
    ...columns.map(
      ({ column, chain, database }) => `  ${column}: chain ${short(chain)}, database ${short(database)}`,
    ),
  ]
}

function short(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`
}

/** Text form of the planned repairs, for people. */
export async function repairText(repairs: readonly PlannedRepair[], verb: string): Promise<string> {
  const { describeRepair } = await import('../../verify/index.ts')
  const writable = repairs.filter(({ impossible }) => impossible === null)
  return [
    `repair ${verb} ${writable.length} of the ${repairs.length} rows that differ:`,
    ...repairs.slice(0, ROWS_SHOWN).map((repair) => `  ${describeRepair(repair)}`),
    ...more(repairs.length - ROWS_SHOWN, 'rows'),
    '',
  ].join('\n')
}

/** Text about the derived rules that a repair rebuilt or refused, and the digests before and after. */
export function derivedText({ rebuilt, refused, isWritten, digests }: Repaired): string {
  return [
    ...rebuilt.map((rule) => `values ${isWritten ? 'were' : 'could be'} rebuilt by the rule: ${rule}`),
    ...refused.map(({ rule, why }) => `values cannot be rebuilt by the rule: ${rule}: ${why}`),
    `digest before the repair: ${digests.before}`,
    `digest after the repair: ${digests.after}${isWritten ? '' : ' (unchanged, because nothing was written)'}`,
    '',
  ].join('\n')
}
