import { attributesToJsonText, decodeAttributes } from '../../core/antelope/attributes/index.ts'
import { hexToBytes } from '../../core/bytes/index.ts'
import { nameToBigInt, parseAsset, parseSymbol } from '../../core/antelope/index.ts'
import type { Column, FormatField, Place, RowValues } from './table.ts'

/** An integer of any size as decimal text. */
export function id(value: unknown): string {
  return String(value)
}

/** A list of integers of any size. */
export function ids(value: unknown): string[] {
  return (value as unknown[]).map(String)
}

/** An integer that fits a double. */
export function int(value: unknown): number {
  return Number(value)
}

/** A double; what JSON has no number for as text. */
export function float(value: unknown): number | string {
  const number = Number(value)
  return Number.isFinite(number) ? number : String(number)
}

/** A truth value, which nodes print as 0 and 1. */
export function flag(value: unknown): boolean {
  return value === true || value === 1 || value === 'true'
}

/** A name or other plain text. */
export function text(value: unknown): string {
  return value as string
}

/** Text of a person: what the database cannot hold, and bytes that are no UTF-8, which decoders print differently, alike. */
export function freeText(value: unknown): string {
  return (value as string).replaceAll('\0', ' ').replaceAll('\ufffd', '?')
}

/** The column of free text that {@link freeText} is compared with. */
export function freeTextColumn(name: string): Column {
  return { name, sql: `replace(t.${name}, U&'\\FFFD', '?')`, type: 'text', unsure: '?' }
}

/** Packed attributes decoded with their format: bytes as hexadecimal text or a list of numbers. */
export function attributes(format: readonly FormatField[], packed: unknown): unknown {
  const bytes = typeof packed === 'string' ? hexToBytes(packed) : Uint8Array.from(packed as ArrayLike<number>)
  return JSON.parse(attributesToJsonText(decodeAttributes(format, bytes).attributes)) as unknown
}

/** Quantities as rows of a table with token and amount, ascending by token. */
export function quantities(value: unknown): { token_symbol: string; amount: string }[] {
  return sortBy(
    (value as string[]).map((quantity) => {
      const { symbol, amount } = parseAsset(quantity)
      return { token_symbol: symbol, amount: amount.toString() }
    }),
    ({ token_symbol }) => token_symbol,
  )
}

/** An amount with its symbol, as columns with these names; those without a name are left out. */
export function price(
  quantity: unknown,
  names: { amount: string; symbol?: string; precision?: string },
): RowValues {
  const { amount, symbol, precision } = parseAsset(quantity as string)
  return {
    [names.amount]: amount.toString(),
    ...(names.symbol === undefined ? {} : { [names.symbol]: symbol }),
    ...(names.precision === undefined ? {} : { [names.precision]: precision }),
  }
}

/** A symbol as two columns. */
export function symbolAs(value: unknown, symbolName: string, precisionName: string): RowValues {
  const { symbol, precision } = parseSymbol(value as string)
  return { [symbolName]: symbol, [precisionName]: precision }
}

/** Ascending by UTF-16 units, which for names is the order of `COLLATE "C"`. */
export function sortBy<T>(values: readonly T[], key: (value: T) => string): T[] {
  return [...values].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}

/** A bigint column as decimal text. */
export function big(name: string): Column {
  return { name, sql: `t.${name}::text`, type: 'bigint' }
}

/** A column as it is. */
export function plain(name: string, type: string): Column {
  return { name, type }
}

/** An array of 64-bit integers. */
export function bigList(name: string): Column {
  return { name, sql: `t.${name}::text[]`, type: 'bigint[]' }
}

/** The place of a row whose scope is the contract, by a number. */
export function byNumber(key: readonly string[], _values: RowValues, contract: string): Place {
  return { scope: contract, primary: BigInt(key[0]!) }
}

/** The place of a row whose scope is the contract, by a name. */
export function byName(key: readonly string[], _values: RowValues, contract: string): Place {
  return { scope: contract, primary: nameToBigInt(key[0]!) }
}

/** The place of a table's only row. */
export function onlyRow(
  table: string,
): (key: readonly string[], values: RowValues, contract: string) => Place {
  return (_key, _values, contract) => ({ scope: contract, primary: nameToBigInt(table) })
}
