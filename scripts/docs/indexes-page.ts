/** The page about indexes: what each costs and what used it, from a measured run, with the declarations. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../services/core/paths/index.ts'
import { code, table } from './markdown.ts'

/** An index as it is declared for queries. */
export interface DeclaredIndex {
  /** With the schema. */
  readonly name: string
  readonly table: string
  /** Everything after the table's name. */
  readonly definition: string
}

/** What a run of `bench/traffic --scans` and of `bench/api` has measured of an index. */
export interface MeasuredIndex {
  readonly name: string
  /** Bytes for a row of the table, whether it has an entry or not. */
  readonly bytesPerRow: number
  /** Scans by kinds of request with two to five filters. */
  readonly scans: number
  /**
   * The kinds with most scans; where there are none, lists of the second tier (a single filter or sort) whose plans have
   * the index.
   */
  readonly users: readonly string[]
  /** How many users there are besides. */
  readonly moreUsers: number
}

/** What requests lost while an index was switched off. */
interface IndexLoss {
  readonly name: string
  /** The kind of traffic, or the address of the second tier, that lost most without it. */
  readonly request: string
  /** Its time with the index, and without it. */
  readonly withMs: number
  readonly withoutMs: number
}

/** Written by `node dist/scripts/bench/index-use.js`. */
const MEASURED = 'scripts/bench/index-use.json'
/** Measured on 2026-11-26, where a request took 5 ms or more and lost a fifth of its rate. */
const LOSSES = 'scripts/docs/index-losses.json'
const FOLDER = 'services/core/database/indexes'
const STATEMENT = /^CREATE INDEX (\w+) ON (\w+)\.(\w+) ([^;]+);$/

/** The declared query indexes, by family. */
export function readDeclaredIndexes(): Map<string, DeclaredIndex[]> {
  const files = readdirSync(join(packageRoot, FOLDER)).filter((file) => file.endsWith('.sql'))
  return new Map(
    files.sort().map((file) => {
      const lines = readFileSync(join(packageRoot, FOLDER, file), 'utf8').split('\n')
      const indexes = lines.flatMap((line) => {
        const match = STATEMENT.exec(line)
        if (!match) return []
        const [, name, schema, of, definition] = match
        return [{ name: `${schema!}.${name!}`, table: `${schema!}.${of!}`, definition: definition! }]
      })
      return [file.slice(0, -4), indexes]
    }),
  )
}

/** What was measured, by the name of the index. */
export function readMeasuredIndexes(): Map<string, MeasuredIndex> {
  const text = readFileSync(join(packageRoot, MEASURED), 'utf8')
  const { indexes } = JSON.parse(text) as { indexes: readonly MeasuredIndex[] }
  return new Map(indexes.map((index) => [index.name, index]))
}

/** What was lost without it, by the name of the index. */
function readLosses(): Map<string, IndexLoss> {
  const losses = JSON.parse(readFileSync(join(packageRoot, LOSSES), 'utf8')) as readonly IndexLoss[]
  return new Map(losses.map((loss) => [loss.name, loss]))
}

/** Sections of the page. */
export function renderIndexes(): string[] {
  const measured = readMeasuredIndexes()
  const losses = readLosses()
  const families = readDeclaredIndexes()
  const count = [...families.values()].reduce((sum, indexes) => sum + indexes.length, 0)
  return [
    '# Indexes',
    `${count} indexes that only queries need, in addition to the keys of the tables. They are declared in \`${FOLDER}\` and built online ` +
      'when a reader has reached the head. Bytes are those for each row of the table on the generated database, whether the row has an ' +
      'entry or not. Scans are those of `bench/traffic --scans`; where there are none, the lists of the second tier ' +
      '(`bench/api`: a single filter or sort) whose plans have the index are named. The last columns are of 2026-11-26: the request that lost most when the index was ' +
      'switched off (by `pg_index.indisvalid`), and its ms with and without it; none where no request that took 5 ms lost a ' +
      'fifth of its rate.',
    ...[...families].flatMap(([family, indexes]) => [
      `## ${family}`,
      table(
        [
          'Index',
          'Table',
          'Definition',
          'Bytes a row',
          'Scans',
          'Used by',
          'Lost most without it',
          'ms with',
          'ms without',
        ],
        indexes.map((index) => cells(index, measured.get(index.name), losses.get(index.name))),
      ),
    ]),
  ]
}

function cells(
  { name, table: of, definition }: DeclaredIndex,
  use: MeasuredIndex | undefined,
  loss: IndexLoss | undefined,
): string[] {
  const named = use?.users.join('; ') ?? ''
  const more = use && use.moreUsers > 0 ? `; ${use.moreUsers} more` : ''
  return [
    code(name.split('.')[1] ?? name),
    code(of),
    code(definition.replaceAll('|', '\\|')),
    use ? String(use.bytesPerRow) : '',
    use ? String(use.scans) : '',
    named + more,
    ...(loss
      ? [code(loss.request.replaceAll('|', '\\|')), loss.withMs.toFixed(1), loss.withoutMs.toFixed(1)]
      : ['', '', '']),
  ]
}
