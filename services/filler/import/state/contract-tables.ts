import { nameToBigInt } from '../../../core/antelope/index.ts'
import type { Handler } from '../../handlers/index.ts'

/** How a row says which one it is: a number or a name of it, or the name of the table where there is one row. */
type Primary = { readonly number: string } | { readonly name: string } | 'table'

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

const number = (field: string): Primary => ({ number: field })
const name = (field: string): Primary => ({ name: field })

/** Tables of each family whose rows are imported, in the order in which they are written. */
const families: Readonly<Record<string, Readonly<Record<string, Primary>>>> = {
  assets: {
    config: 'table',
    tokenconfigs: 'table',
    collections: name('collection_name'),
    schemas: name('schema_name'),
    schematypes: name('schema_name'),
    authorswaps: name('collection_name'),
    balances: name('owner'),
    templates: number('template_id'),
    templates2: number('template_id'),
    assets: number('asset_id'),
    offers: number('offer_id'),
  },
  oracle: { pairs: name('name'), datapoints: number('id') },
  market: {
    config: 'table',
    counters: name('counter_name'),
    marketplaces: name('marketplace_name'),
    balances: name('owner'),
    bonusfees: number('bonusfee_id'),
    royaltyconf: name('collection'),
    royaltytemp: number('template_id'),
    royaltyattr: number('index'),
    sales: number('sale_id'),
    auctions: number('auction_id'),
    buyoffers: number('buyoffer_id'),
    tbuyoffers: number('buyoffer_id'),
  },
  tools: { config: 'table', links: number('link_id') },
}

/** The tables of the contracts of handlers. */
export function contractTables(handlers: readonly Handler[]): ContractTable[] {
  return handlers.flatMap(({ family, account }) =>
    Object.entries(families[family] ?? {}).map(([table, primary]) => ({
      contract: account,
      family,
      table,
      stage: stageName(family, table),
      field: fieldOf(primary),
      primaryOf: primaryReader(table, primary),
    })),
  )
}

/** Name of the table that collects the rows of a contract table. */
function stageName(family: string, table: string): string {
  return `import.${family}_${table}`
}

function fieldOf(primary: Primary): string | null {
  if (primary === 'table') return null
  return 'number' in primary ? primary.number : primary.name
}

function primaryReader(table: string, primary: Primary): ContractTable['primaryOf'] {
  if (primary === 'table') return () => signed(nameToBigInt(table))
  if ('name' in primary) return (value) => signed(nameToBigInt(value[primary.name] as string))
  // A 32-bit id is widened as an unsigned number.
  return (value) => {
    const id = value[primary.number] as bigint | number
    return typeof id === 'number' ? BigInt(id >>> 0) : signed(id)
  }
}

/** The database has no unsigned integers. */
export function signed(key: bigint): bigint {
  return BigInt.asIntN(64, key)
}
