import { nameToBigInt } from '../../../core/antelope/index.ts'
import {
  assetsContract,
  marketContract,
  oracleContract,
  toolsContract,
} from '../../../core/model/contract/index.ts'
import type { ContractTable as Described } from '../../../core/model/contract/index.ts'
import type { Handler } from '../../handlers/index.ts'

/** A contract table whose rows the import copies from the chain node. */
export interface ContractTable {
  readonly contract: string
  readonly family: string
  readonly table: string
  /** Staging table in the schema `import`, into which the rows of the contract table are copied. */
  readonly stage: string
  /** Field of the contract row that determines the primary key; null if the table has one row with a constant key. */
  readonly field: string | null
  /** Returns the primary key of a contract row as a signed 64-bit integer. */
  primaryOf(value: Readonly<Record<string, unknown>>): bigint
}

/**
 * Contract tables to import, by family. The import writes the tables of a family in the order in which the object of
 * the family lists them.
 */
const families: Readonly<Record<string, Readonly<Record<string, Described>>>> = {
  assets: assetsContract,
  oracle: oracleContract,
  market: marketContract,
  tools: toolsContract,
}

/** Lists the contract tables that the handlers index. */
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

/** Name of the staging table of a contract table. */
function stageName(family: string, table: string): string {
  return `import.${family}_${table}`
}

function primaryReader({ name, primary, table, key }: Described): ContractTable['primaryOf'] {
  if (primary === null) return () => signed(nameToBigInt(name))
  if (table.columns[key.at(-1)!]!.type === 'text')
    return (value) => signed(nameToBigInt(value[primary] as string))
  // The primary key is the unsigned value of the id. `>>> 0` converts a signed 32-bit id.
  return (value) => {
    const id = value[primary] as bigint | number
    return typeof id === 'number' ? BigInt(id >>> 0) : signed(id)
  }
}

/** Converts an unsigned 64-bit key to the signed bigint that PostgreSQL can store. */
export function signed(key: bigint): bigint {
  return BigInt.asIntN(64, key)
}
