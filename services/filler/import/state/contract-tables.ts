import { nameToBigInt } from '../../../core/antelope/index.ts'
import {
  assetsContract,
  marketContract,
  oracleContract,
  toolsContract,
} from '../../../core/model/contract/index.ts'
import type { ContractTable as Described } from '../../../core/model/contract/index.ts'
import type { Handler } from '../../handlers/index.ts'

/** A contract table whose rows the import pages from the chain node. */
export interface ContractTable {
  readonly contract: string
  readonly family: string
  readonly table: string
  /** Staging table in the schema `import` that collects the table's rows. */
  readonly stage: string
  /** Field that determines the primary key; null if the key is constant. Paging decodes this field only. */
  readonly field: string | null
  /** Primary key as a signed 64-bit integer. */
  primaryOf(value: Readonly<Record<string, unknown>>): bigint
}

/** Contract tables to import, by family, in write order. */
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
  // `>>> 0` reads a 32-bit id as unsigned.
  return (value) => {
    const id = value[primary] as bigint | number
    return typeof id === 'number' ? BigInt(id >>> 0) : signed(id)
  }
}

/** Converts an unsigned 64-bit key to the signed bigint that PostgreSQL can store. */
export function signed(key: bigint): bigint {
  return BigInt.asIntN(64, key)
}
