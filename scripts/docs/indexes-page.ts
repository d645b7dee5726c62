/** The page about indexes: declaration, size and use of each index, from a measured run. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../services/core/paths/index.ts'
import { code, table } from './markdown.ts'

/** A declared query index. */
export interface DeclaredIndex {
  /** Schema-qualified name of the index. */
  readonly name: string
  readonly table: string
  /** Text of `CREATE INDEX` after the table's name. */
  readonly definition: string
}

/** Measurements of an index by `bench/traffic --scans` and `bench/api`. */
export interface MeasuredIndex {
  readonly name: string
  /** Size of the index divided by all rows of the table, bytes: rows that a partial index leaves out count, too. */
  readonly bytesPerRow: number
  /** Number of scans by traffic requests with two to five filters. */
  readonly scans: number
  /**
   * Kinds of request with the most scans. If there are none: second-tier lists (with a single filter or sort) whose
   * plans use the index.
   */
  readonly users: readonly string[]
  /** Number of kinds of request that use the index and are not in `users`. */
  readonly moreUsers: number
}

/** Effect of switching an index off. */
interface IndexLoss {
  readonly name: string
  /** Kind of request of the bench `traffic`, or URL of a list, that lost most of its rate without the index. */
  readonly request: string
  /** Time of the request with the index, ms. */
  readonly withMs: number
  /** Time of the request without the index, ms. */
  readonly withoutMs: number
}

/** File with the measurements; written by `node dist/scripts/bench/index-use.js`. */
const MEASURED = 'scripts/bench/index-use.json'
/** Requests that took 5 ms or more and lost a fifth of their rate without an index. Measured 2026-11-26. */
const LOSSES = 'scripts/docs/index-losses.json'
const FOLDER = 'services/core/database/indexes'
const STATEMENT = /^CREATE INDEX (\w+) ON (\w+)\.(\w+) ([^;]+);$/

/** Declared query indexes by family. */
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

/** Measurements of each index, by the name of the index. */
export function readMeasuredIndexes(): Map<string, MeasuredIndex> {
  const text = readFileSync(join(packageRoot, MEASURED), 'utf8')
  const { indexes } = JSON.parse(text) as { indexes: readonly MeasuredIndex[] }
  return new Map(indexes.map((index) => [index.name, index]))
}

/** Effects of switching an index off, by index name. */
function readLosses(): Map<string, IndexLoss> {
  const losses = JSON.parse(readFileSync(join(packageRoot, LOSSES), 'utf8')) as readonly IndexLoss[]
  return new Map(losses.map((loss) => [loss.name, loss]))
}

/** The sections of docs/indexes.md, as Markdown. */
export function renderIndexes(): string[] {
  const measured = readMeasuredIndexes()
  const losses = readLosses()
  const families = readDeclaredIndexes()
  const count = [...families.values()].reduce((sum, indexes) => sum + indexes.length, 0)
  return [
    '# Indexes',
    `Queries need ${count} indexes in addition to the keys of the tables. The filler does not need these indexes. ` +
      `The indexes are declared in \`${FOLDER}\` and built online when a reader has reached the head.`,
    '- "Bytes a row": size of the index in a generated database, divided by all rows of the table, with or without an index entry.\n' +
      '- "Scans": number of scans in `bench/traffic --scans`. ' +
      '"Used by" names the requests with most scans; for an index without scans, it names lists of `bench/api` (a single filter or sort) whose plans use the index.\n' +
      '- "Slowest without it", "ms with" and "ms without": on 2026-11-26 each index was switched off by `pg_index.indisvalid`. ' +
      'The columns show the request that slowed down most, and its time with and without the index. ' +
      'The three columns are empty if, without the index, no kind of request that takes 5 ms or more lost a fifth of its requests a second.',
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
          'Slowest without it',
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
