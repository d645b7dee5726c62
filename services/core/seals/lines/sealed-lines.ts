import { createHash, hash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { modelTables } from '../../model/tables/index.ts'
import { bundleColumns } from '../sealed-kinds.ts'
import type { SealedKind } from '../sealed-kinds.ts'

const TAB = 9
const NEWLINE = 10
const POINT = 46
const ZERO = 48
const nullField = Buffer.from('\\N')

/** A sealed range of blocks, with the number and the digest that its rows must have. */
export interface ExpectedRange {
  readonly firstBlock: number
  readonly rows: number
  /** 64 hexadecimal digits. */
  readonly digest: string
}

/**
 * Compares rows in COPY text format with seals. The lines are whole rows, sorted by range and then by the order of the
 * kind. `digestRanges` computes the same seals in PostgreSQL.
 */
export class SealedLines {
  readonly #ranges: readonly ExpectedRange[]
  /** For each sealed column in its order: the index of its field in a line. */
  readonly #fields: readonly number[]
  readonly #isWhole: boolean
  readonly #numeric: ReadonlySet<number>
  readonly #bundles: ReadonlySet<number>
  readonly #assetCount: number
  /** For each column by which the kind of row is ordered: the index of its field in a COPY line. */
  readonly #keys: readonly number[]
  /** Hashes of the rows read last, all with equal order keys. Rows with equal order keys are ordered by their hash. */
  #equal: Buffer[] = []
  #key: readonly Buffer[] = []
  #range = 0
  #rowsOfRange = 0
  #hash: Hash = createHash('sha256')

  /** @param columns columns of the COPY lines, in the order of the fields of a line. */
  constructor(kind: SealedKind, columns: readonly string[], ranges: readonly ExpectedRange[]) {
    const types = modelTables.find(({ name }) => name === kind.table)!.columns
    const ofType = (isWanted: (column: string) => boolean) =>
      new Set(columns.flatMap((column, at) => (isWanted(column) ? [at] : [])))
    this.#ranges = ranges
    this.#fields = kind.columns.map((column) => columns.indexOf(column))
    this.#numeric = ofType((column) => types[column]?.type === 'numeric')
    this.#bundles = ofType((column) => kind.table.startsWith('market.') && bundleColumns.has(column))
    this.#assetCount = columns.indexOf('asset_count')
    this.#keys = kind.order.map((sql) => columns.indexOf(/^t\."(\w+)"$/.exec(sql)![1]!))
    this.#isWhole =
      this.#numeric.size === 0 &&
      this.#bundles.size === 0 &&
      this.#fields.length === columns.length &&
      this.#fields.every((field, at) => field === at)
  }

  /**
   * Reads all lines.
   * @returns the first range whose digest differs from its seal; undefined if all match.
   */
  read(text: Buffer): ExpectedRange | undefined {
    for (let start = 0; start < text.length;) {
      const end = text.indexOf(NEWLINE, start)
      if (end < 0) return this.#ranges.at(-1)
      const wrong = this.#readLine(text.subarray(start, end))
      if (wrong) return wrong
      start = end + 1
    }
    return this.#ranges[this.#range]
  }

  #readLine(line: Buffer): ExpectedRange | undefined {
    const range = this.#ranges[this.#range]
    if (range === undefined) return this.#ranges.at(-1)
    const key = this.#keys.map((field) => fieldOf(line, field))
    if (!key.every((value, at) => this.#key[at]?.equals(value))) this.#flush()
    this.#key = key
    this.#equal.push(hashOf(this.#isWhole ? line : this.#sealedLine(line)))
    if (++this.#rowsOfRange < range.rows) return undefined
    this.#flush()
    const digest = this.#hash.digest('hex')
    this.#hash = createHash('sha256')
    this.#rowsOfRange = 0
    this.#range++
    return digest === range.digest ? undefined : range
  }

  #flush(): void {
    if (this.#equal.length > 1) this.#equal.sort((one, other) => Buffer.compare(one, other))
    for (const hash of this.#equal) this.#hash.update(hash)
    this.#equal = []
  }

  #sealedLine(line: Buffer): Buffer {
    const fields = splitFields(line)
    const isSingle = this.#assetCount >= 0 && Number(fields[this.#assetCount]!.toString('latin1')) <= 1
    const parts: Buffer[] = []
    for (const [at, field] of this.#fields.entries()) {
      if (at > 0) parts.push(tab)
      const value = fields[field] ?? nullField
      if (isSingle && this.#bundles.has(field)) parts.push(nullField)
      else parts.push(this.#numeric.has(field) ? trimScale(value) : value)
    }
    return Buffer.concat(parts)
  }
}

const tab = Buffer.of(TAB)

function hashOf(line: Buffer): Buffer {
  // The function `hash` takes half the time of `createHash`, which creates an object for each line.
  return hash('sha256', line, 'buffer')
}

/** Returns the field at index `field` of a COPY line; the first field has index 0. */
function fieldOf(line: Buffer, field: number): Buffer {
  let start = 0
  for (let at = 0; at < field; at++) start = line.indexOf(TAB, start) + 1
  const end = line.indexOf(TAB, start)
  return line.subarray(start, end < 0 ? line.length : end)
}

function splitFields(line: Buffer): Buffer[] {
  const fields: Buffer[] = []
  for (let start = 0; ;) {
    const end = line.indexOf(TAB, start)
    if (end < 0) return [...fields, line.subarray(start)]
    fields.push(line.subarray(start, end))
    start = end + 1
  }
}

/** PostgreSQL's `trim_scale`: removes trailing zeros after the decimal point. */
function trimScale(value: Buffer): Buffer {
  if (!value.includes(POINT)) return value
  let end = value.length
  while (value[end - 1] === ZERO) end--
  return value.subarray(0, value[end - 1] === POINT ? end - 1 : end)
}
