import { ByteSource, bytesToHex, DecodeError, hexToBytes } from '../../bytes/index.ts'
import type { ByteSink } from '../../bytes/index.ts'
import { nameFromString, nameToBigInt, nameToString } from '../values/name.ts'
import type { AbiKvTable, AbiLaterSections } from './definition.ts'

// The sections after `action_results` differ between node versions. EOSIO 2.1 added `kv_tables` (ABI version
// still 1.2); Spring 2.0 added `calls` and `call_results` (ABI version 1.3). Spring stores the name of a call
// as text; only some branches of Spring store an id after the name.

/** Whether an ABI version (`eosio::abi/1.N`) is 1.`minor` or later. */
export function isSince(version: string, minor: number): boolean {
  const match = /^eosio::abi\/1\.(\d{1,4})$/.exec(version)
  return match !== null && Number(match[1]) >= minor
}

/**
 * Reads the sections after `action_results`. Tries the layout of the software fork that uses this ABI version first,
 * then the layout of the other fork. Accepts a layout only if the layout consumes all bytes.
 */
export function readLaterSections(bytes: Uint8Array, version: string): AbiLaterSections {
  if (bytes.length === 0) return {}
  const calls = [
    (source: ByteSource) => readCalls(source, true),
    (source: ByteSource) => readCalls(source, false),
  ]
  const readers = isSince(version, 3) ? [...calls, readKvTables] : [readKvTables, ...calls]
  for (const read of readers) {
    const source = new ByteSource(bytes, 'abi')
    try {
      const sections = read(source)
      if (source.remaining === 0) return sections
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
    }
  }
  return { unknown_sections: bytesToHex(bytes) }
}

function readName(source: ByteSource): string {
  return nameToString(source.u32(), source.u32())
}

function readCalls(source: ByteSource, haveIds: boolean): AbiLaterSections {
  const calls = source.list(haveIds ? 10 : 2, () => ({
    name: source.text(),
    type: source.text(),
    ...(haveIds ? { id: source.u64().toString() } : {}),
  }))
  if (source.remaining === 0) return { calls }
  return { calls, call_results: source.list(2, () => ({ name: source.text(), result_type: source.text() })) }
}

function readKvTables(source: ByteSource): AbiLaterSections {
  const tables = source.list(19, () => {
    const name = readName(source)
    const type = source.text()
    const primary_index = { name: readName(source), type: source.text() }
    const indices = source.list(9, () => [readName(source), { type: source.text() }] as const)
    return [name, { type, primary_index, secondary_indices: Object.fromEntries(indices) }] as const
  })
  return { kv_tables: Object.fromEntries(tables) }
}

/** Whether an ABI has sections after `action_results`. */
export function hasLaterSections(sections: AbiLaterSections): boolean {
  const { kv_tables, calls, call_results, unknown_sections } = sections
  return [kv_tables, calls, call_results, unknown_sections].some((section) => section !== undefined)
}

/**
 * Writes the sections after `action_results`.
 * @throws EncodeError for an invalid name.
 */
export function writeLaterSections(sink: ByteSink, sections: AbiLaterSections): void {
  const { kv_tables, calls, call_results, unknown_sections } = sections
  if (kv_tables !== undefined) writeKvTables(sink, kv_tables)
  if (calls !== undefined || call_results !== undefined) {
    sink.list(calls ?? [], (call) => {
      sink.text(call.name).text(call.type)
      if (call.id !== undefined) sink.u64(BigInt(call.id))
    })
  }
  if (call_results !== undefined) {
    sink.list(call_results, (result) => sink.text(result.name).text(result.result_type))
  }
  if (unknown_sections !== undefined) sink.raw(hexToBytes(unknown_sections))
}

function writeKvTables(sink: ByteSink, tables: Readonly<Record<string, AbiKvTable>>): void {
  sink.list(byName(tables), ([name, table]) => {
    writeName(sink, name)
    sink.text(table.type)
    writeName(sink, table.primary_index.name)
    sink.text(table.primary_index.type)
    sink.list(byName(table.secondary_indices), ([index, { type }]) => {
      writeName(sink, index)
      sink.text(type)
    })
  })
}

/** Entries in the order of a C++ map on the chain: by the integer value of the name. */
function byName<T>(record: Readonly<Record<string, T>>): [string, T][] {
  const entries = Object.entries(record).map(([name, value]) => ({ key: nameToBigInt(name), name, value }))
  return entries.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ name, value }) => [name, value])
}

function writeName(sink: ByteSink, name: string): void {
  const { lo, hi } = nameFromString(name)
  sink.u32(lo).u32(hi)
}
