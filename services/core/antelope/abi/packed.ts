import { DecodeError } from '../../bytes/index.ts'
import { ByteSource, ByteSink } from '../../bytes/index.ts'
import { hexToBytes } from '../../bytes/index.ts'
import { nameFromString, nameToString } from '../values/name.ts'
import type { AbiDefinition, AbiTable } from './definition.ts'
import { hasLaterSections, isSince, readLaterSections, writeLaterSections } from './later-sections.ts'

// Maximum size of a packed ABI. The default chain limit for an action is half a megabyte; some chains configure more.
export const MAX_ABI_BYTES = 16 * 1024 * 1024

/**
 * Reads a packed `abi_def` (versions 1.0 to 1.3) as found in `setabi` data and `account` rows. Sections that older
 * versions lack are empty. Bytes after the known sections are preserved, because the chain stores an ABI unchecked.
 * Empty input (an account without ABI) is an error.
 * @throws DecodeError with section and byte offset.
 */
export function parsePackedAbi(bytes: Uint8Array): AbiDefinition {
  if (bytes.length > MAX_ABI_BYTES)
    throw new DecodeError(`ABI of ${bytes.length} bytes is too large`, 'abi', 0)
  const source = new ByteSource(bytes, 'abi')
  const version = source.at('version').text()
  if (!version.startsWith('eosio::abi/1.')) {
    throw new DecodeError(
      `${JSON.stringify(version.slice(0, 32))} is not a known ABI version`,
      'abi.version',
      0,
    )
  }
  const list = <T>(section: string, minBytes: number, read: () => T): T[] =>
    source.at(section).list(minBytes, read)
  const optional = <T>(section: string, minBytes: number, read: () => T): T[] =>
    source.remaining === 0 ? [] : list(section, minBytes, read)
  const name = () => nameToString(source.u32(), source.u32())
  const field = () => ({ name: source.text(), type: source.text() })
  return {
    version,
    types: list('types', 2, () => ({ new_type_name: source.text(), type: source.text() })),
    structs: list('structs', 3, () => ({
      name: source.text(),
      base: source.text(),
      fields: source.list(2, field),
    })),
    actions: list('actions', 10, () => ({
      name: name(),
      type: source.text(),
      ricardian_contract: source.text(),
    })),
    tables: list('tables', 12, () => readTable(source, name)),
    ricardian_clauses: optional('ricardian_clauses', 2, () => ({ id: source.text(), body: source.text() })),
    error_messages: optional('error_messages', 9, () => ({
      error_code: source.u64().toString(),
      error_msg: source.text(),
    })),
    abi_extensions: optional('abi_extensions', 3, () => ({ tag: source.u16(), value: source.hex() })),
    variants: optional('variants', 2, () => ({
      name: source.text(),
      types: source.list(1, () => source.text()),
    })),
    action_results: optional('action_results', 9, () => ({ name: name(), result_type: source.text() })),
    ...readLaterSections(source.rest(), version),
  }
}

function readTable(source: ByteSource, name: () => string): AbiTable {
  const table = name()
  const index_type = source.text()
  const key_names = source.list(1, () => source.text())
  const key_types = source.list(1, () => source.text())
  return { name: table, index_type, key_names, key_types, type: source.text() }
}

/**
 * Packs an ABI for `setabi`. Sections from `variants` on are written only if the version requires them or the
 * definition has entries.
 * @throws EncodeError for an invalid name.
 */
export function packAbi(abi: AbiDefinition): Uint8Array {
  const sink = new ByteSink()
  const name = (value: string): void => {
    const { lo, hi } = nameFromString(value)
    sink.u32(lo).u32(hi)
  }
  sink.text(abi.version)
  sink.list(abi.types, (type) => sink.text(type.new_type_name).text(type.type))
  sink.list(abi.structs, (struct) => {
    sink.text(struct.name).text(struct.base)
    sink.list(struct.fields, (field) => sink.text(field.name).text(field.type))
  })
  sink.list(abi.actions, (action) => {
    name(action.name)
    sink.text(action.type).text(action.ricardian_contract)
  })
  sink.list(abi.tables, (table) => {
    name(table.name)
    sink.text(table.index_type)
    sink.list(table.key_names, (key) => sink.text(key))
    sink.list(table.key_types, (key) => sink.text(key))
    sink.text(table.type)
  })
  sink.list(abi.ricardian_clauses, (clause) => sink.text(clause.id).text(clause.body))
  sink.list(abi.error_messages, (error) => sink.u64(BigInt(error.error_code)).text(error.error_msg))
  sink.list(abi.abi_extensions, (extension) => sink.u16(extension.tag).blob(hexToBytes(extension.value)))
  const hasLater = hasLaterSections(abi)
  const hasResults = isSince(abi.version, 2) || abi.action_results.length > 0 || hasLater
  if (abi.version !== 'eosio::abi/1.0' || abi.variants.length > 0 || hasResults) {
    sink.list(abi.variants, (variant) => {
      sink.text(variant.name)
      sink.list(variant.types, (type) => sink.text(type))
    })
  }
  if (hasResults) {
    sink.list(abi.action_results, (result) => {
      name(result.name)
      sink.text(result.result_type)
    })
  }
  if (hasLater) writeLaterSections(sink, abi)
  return sink.finish()
}
