import { setImmediate } from 'node:timers/promises'
import { unpackRows } from '../database/index.ts'
import { readPageKeys } from '../planner/index.ts'
import { answerTooLarge } from '../request/index.ts'
import { partsBySize, TooMuchAtOnce } from './sizes/index.ts'
import type { NamedSchema } from '../endpoint/index.ts'
import type { Session } from '../database/index.ts'
import type { Statement } from '../sql/index.ts'
import type { Json } from '../json/index.ts'
import type { PageResult, PageStatement } from '../planner/index.ts'
import type { FoundFragments, FragmentKind, Fragments, WantedFragments } from './fragments/index.ts'
import { PAGE_KEYS, readKeysTexts, readPageTexts } from './page.ts'
import type { PageTexts, Selection } from './page.ts'

/**
 * How the records of one kind are read.
 *
 * A page is a query of its keys with two columns: `k`, the key, and `n`, a number that ascends in the order of the page.
 * A row whose `k` is null says that the row budget ran out before the page was found.
 */
export interface RecordKind {
  readonly schema: NamedSchema
  /** SQL type of its keys. */
  readonly keyType: string
  /**
   * The records of a page in its order; a key without a row is left out. One statement, another one before it where the
   * keys are planned for their values, and another one after it when fragments that records share are not cached.
   */
  readPage(session: Session, page: PageStatement): Promise<PageResult<readonly Json[]>>
  /** Records by key, in the order of the keys; one without a row is missing. */
  readKeys(session: Session, keys: readonly string[]): Promise<ReadonlyMap<string, Json>>
}

/** Rows of records as read by a statement, before their shared fragments are added. */
export interface PendingRecords {
  /** Fragments to load. */
  readonly versions: WantedFragments
  /** Records by key, in the order of the page. @param before number of records of the page that stand before. */
  readonly assemble: (found: FoundFragments, before?: number) => Map<string, Json>
}

/** Selects what records of one kind are assembled from, and assembles them. */
export interface Assembler {
  readonly schema: NamedSchema
  /** SQL type of the keys. */
  readonly keyType: string
  /** @param keys relation with the keys, `k`, and their places, `n`. */
  readonly select: (keys: string) => Selection
  /** Number of columns that `select` returns. */
  readonly columnCount: number
  /** Converts the selected columns to records. */
  readonly read: (texts: PageTexts) => PendingRecords
  /** Selects the sizes of records: packed rows of key, bytes of the record, and those that are read for it. */
  readonly measure?: (keys: string) => Selection
  /** A cheaper statement for one key, `$1`, which answers one text. */
  readonly one?: {
    readonly statement: Required<Pick<Statement, 'name' | 'text'>>
    /** @param text undefined when there is no row. */
    readonly read: (text: string | undefined) => PendingRecords
  }
}

/** The records that an assembler assembles. */
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
    return assemble(session, assembler.read(texts))
  }
  return {
    schema: assembler.schema,
    keyType,
    async readPage(session, page) {
      try {
        const texts = await readPageTexts(session, page, assembler.select(PAGE_KEYS), keyType)
        if ('hits' in texts) return texts
        const records = await assemble(session, assembler.read(texts.records))
        return { records: [...records.values()] }
      } catch (error) {
        if (!(error instanceof TooMuchAtOnce)) throw error
      }
      return session.snapshot(async () => {
        const found = await readPageKeys(session, page)
        if ('hits' in found) return found
        const records = await readInParts({ session, fragments, assembler }, found.records)
        return { records: [...records.values()] }
      })
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

/** Measures records before their texts leave the database, and reads as many at a time as may be in memory. */
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
    const pending = assembler.read(await readKeysTexts(session, part, selection, keyType))
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
  return unpackRows<[string, string, string]>(packed).map(([key, bytes, readBytes]) => ({
    key,
    bytes: Number(bytes),
    readBytes: Number(readBytes),
  }))
}

/** Merges the fragments that several records want into one list. */
export function wantedTogether(...wanted: readonly WantedFragments[]): WantedFragments {
  const all = new Map<FragmentKind, Map<string, string>>()
  for (const each of wanted) {
    for (const [kind, versions] of each) all.set(kind, new Map([...(all.get(kind) ?? []), ...versions]))
  }
  return all
}
