import { nameToBigInt } from '../../../core/antelope/index.ts'
import {
  assetsContract,
  marketContract,
  oracleContract,
  toolsContract,
} from '../../../core/model/contract/index.ts'
import type { ContractTable as Described } from '../../../core/model/contract/index.ts'
import type { Handler } from '../../handlers/index.ts'

/** A table of a contract that is paged. */
export interface ContractTable {
  readonly contract: string
  readonly family: string
  readonly table: string
  /** Where its rows are collected: a table of the schema `import`. */
  readonly stage: string
  /** The field that the primary key follows from; all that has to be decoded while paging. */
  readonly field: string | null
  /** Primary key as a signed 64-bit integer. */
  primaryOf(value: Readonly<Record<string, unknown>>): bigint
}

/** Tables of each family whose rows are imported, in the order in which they are written. */
const families: Readonly<Record<string, Readonly<Record<string, Described>>>> = {
  assets: assetsContract,
  oracle: oracleContract,
  market: marketContract,
  tools: toolsContract,
}

/** The tables of the contracts of handlers. */
export function contractTables(handlers: readonly Handler[]): ContractTable[] {
  return handlers.flatMap(({ family, account }) =>
    Object.values(families[family] ?? {}).map((described) => ({
      contract: account,
      family,
      table: described.name,
      stage: stageName(family, described.name),
      field: described.primary,
      primaryOf: primaryReader(described),
    })),
  )
}

/** Name of the table that collects the rows of a contract table. */
function stageName(family: string, table: string): string {
  return `import.${family}_${table}`
}

function primaryReader({ name, primary, table, key }: Described): ContractTable['primaryOf'] {
  if (primary === null) return () => signed(nameToBigInt(name))
  if (table.columns[key.at(-1)!]!.type === 'text')
    return (value) => signed(nameToBigInt(value[primary] as string))
  // A 32-bit id is widened as an unsigned number.
  return (value) => {
    const id = value[primary] as bigint | number
    return typeof id === 'number' ? BigInt(id >>> 0) : signed(id)
  }
}

/** The database has no unsigned integers. */
export function signed(key: bigint): bigint {
  return BigInt.asIntN(64, key)
}
