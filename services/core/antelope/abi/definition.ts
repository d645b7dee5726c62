import { AbiError } from '../../bytes/index.ts'

/** A type alias: `new_type_name` is another name of `type`. */
export interface AbiAlias {
  readonly new_type_name: string
  readonly type: string
}

/** One member of a struct. `type` may end in `[]`, `[3]`, `?` and `$` (binary extension). */
export interface AbiField {
  readonly name: string
  readonly type: string
}

/** If `base` is not empty, the fields of the struct `base` precede the struct's own fields on the wire. */
export interface AbiStruct {
  readonly name: string
  readonly base: string
  readonly fields: readonly AbiField[]
}

/** Action `name` has data of type `type`. */
export interface AbiAction {
  readonly name: string
  readonly type: string
  readonly ricardian_contract: string
}

/** Rows of table `name` have type `type`. */
export interface AbiTable {
  readonly name: string
  readonly type: string
  readonly index_type: string
  readonly key_names: readonly string[]
  readonly key_types: readonly string[]
}

/** A value of one of `types`, preceded by the index of its type. */
export interface AbiVariant {
  readonly name: string
  readonly types: readonly string[]
}

/**
 * A function that other contracts call while an action runs (ABI 1.3 of Spring). `id`: 64-bit integer as decimal text.
 */
export interface AbiCall {
  readonly name: string
  readonly type: string
  readonly id?: string
}

/** A key-value table (EOSIO 2.1 and 2.2). */
export interface AbiKvTable {
  readonly type: string
  readonly primary_index: { readonly name: string; readonly type: string }
  readonly secondary_indices: Readonly<Record<string, { readonly type: string }>>
}

/** Sections of an ABI after `action_results`. A section that the ABI lacks is absent. */
export interface AbiLaterSections {
  readonly kv_tables?: Readonly<Record<string, AbiKvTable>>
  readonly calls?: readonly AbiCall[]
  readonly call_results?: readonly { readonly name: string; readonly result_type: string }[]
  /** Bytes of the packed ABI after the last section that this program knows, hexadecimal. */
  readonly unknown_sections?: string
}

/**
 * An ABI in the JSON form of nodes (`abi_def`), with all sections up to `action_results`. `error_code` has 64 bits and
 * is therefore a decimal string; `value` of an extension is hexadecimal.
 */
export interface AbiDefinition extends AbiLaterSections {
  readonly version: string
  readonly types: readonly AbiAlias[]
  readonly structs: readonly AbiStruct[]
  readonly actions: readonly AbiAction[]
  readonly tables: readonly AbiTable[]
  readonly ricardian_clauses: readonly { readonly id: string; readonly body: string }[]
  readonly error_messages: readonly { readonly error_code: string; readonly error_msg: string }[]
  readonly abi_extensions: readonly { readonly tag: number; readonly value: string }[]
  readonly variants: readonly AbiVariant[]
  readonly action_results: readonly { readonly name: string; readonly result_type: string }[]
}

export const MAX_ENTRIES = 65_536

/**
 * Validates foreign ABI JSON and fills in the sections that older ABIs lack. Drops unknown keys.
 * @throws AbiError that names the first invalid entry.
 */
export function normalizeAbiJson(json: unknown): AbiDefinition {
  const abi = asRecord(json, 'ABI')
  const list = <T>(key: string, read: (entry: Entry) => T): T[] => readList(abi[key], key, read)
  return {
    version: text(abi['version'] ?? 'eosio::abi/1.1', 'version'),
    types: list('types', (e) => ({ new_type_name: e.text('new_type_name'), type: e.text('type') })),
    structs: list('structs', (e) => ({
      name: e.text('name'),
      base: e.textOr('base', ''),
      fields: e.list('fields', (f) => ({ name: f.text('name'), type: f.text('type') })),
    })),
    actions: list('actions', (e) => ({
      name: e.text('name'),
      type: e.text('type'),
      ricardian_contract: e.textOr('ricardian_contract', ''),
    })),
    tables: list('tables', readTable),
    ricardian_clauses: list('ricardian_clauses', (e) => ({ id: e.text('id'), body: e.text('body') })),
    error_messages: list('error_messages', (e) => ({
      error_code: e.numeral('error_code'),
      error_msg: e.textOr('error_msg', ''),
    })),
    abi_extensions: readList(abi['abi_extensions'], 'abi_extensions', readExtension, true),
    variants: list('variants', (e) => ({ name: e.text('name'), types: e.texts('types') })),
    action_results: list('action_results', (e) => ({
      name: e.text('name'),
      result_type: e.text('result_type'),
    })),
  }
}

function readTable(entry: Entry): AbiTable {
  return {
    name: entry.text('name'),
    type: entry.text('type'),
    index_type: entry.textOr('index_type', 'i64'),
    key_names: entry.texts('key_names'),
    key_types: entry.texts('key_types'),
  }
}

// Nodes encode an ABI extension as a pair [tag, hex]; some tools encode an ABI extension as an object.
function readExtension(entry: Entry): { tag: number; value: string } {
  const tag = entry.raw('tag') ?? entry.raw('0')
  if (typeof tag !== 'number') throw new AbiError(`${entry.place} has no numeric tag`)
  return { tag, value: text(entry.raw('value') ?? entry.raw('1') ?? '', entry.place) }
}

interface Entry {
  readonly place: string
  raw(key: string): unknown
  text(key: string): string
  textOr(key: string, fallback: string): string
  texts(key: string): string[]
  numeral(key: string): string
  list<T>(key: string, read: (entry: Entry) => T): T[]
}

function entryOf(value: unknown, place: string, arrayAllowed: boolean): Entry {
  const record = asRecord(value, place, arrayAllowed)
  const raw = (key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined)
  return {
    place,
    raw,
    text: (key) => text(raw(key), `${place}.${key}`),
    textOr: (key, fallback) => text(raw(key) ?? fallback, `${place}.${key}`),
    texts: (key) => readTexts(raw(key), `${place}.${key}`),
    numeral: (key) => {
      const found = raw(key)
      const digits = typeof found === 'number' ? String(found) : text(found, `${place}.${key}`)
      if (!/^\d{1,20}$/.test(digits)) throw new AbiError(`${place}.${key} is not a number`)
      return digits
    },
    list: (key, read) => readList(raw(key), `${place}.${key}`, read),
  }
}

function readList<T>(value: unknown, place: string, read: (entry: Entry) => T, arrayAllowed = false): T[] {
  return asList(value, place).map((item, i) => read(entryOf(item, `${place}[${i}]`, arrayAllowed)))
}

function readTexts(value: unknown, place: string): string[] {
  return asList(value, place).map((item, i) => text(item, `${place}[${i}]`))
}

function asList(value: unknown, place: string): unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new AbiError(`${place} is not a list`)
  if (value.length > MAX_ENTRIES) throw new AbiError(`${place} has more than ${MAX_ENTRIES} entries`)
  return value as unknown[]
}

function asRecord(value: unknown, place: string, arrayAllowed = false): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || (Array.isArray(value) && !arrayAllowed)) {
    throw new AbiError(`${place} is not an object`)
  }
  return value as Record<string, unknown>
}

function text(value: unknown, place: string): string {
  if (typeof value !== 'string') throw new AbiError(`${place} is not a text`)
  return value
}
