import { assetsTables } from '../../core/model/tables/index.ts'
import { assetsCounters } from '../../core/derived/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { listTables } from '../../core/model/index.ts'

/** INSERT ... SELECT statements that compute the counter tables of the assets family from the imported rows. */
export function counterStatements(): { readonly table: string; readonly statement: string }[] {
  return Object.entries(assetsCounters).map(([table, select]) => {
    const columns = columnsOf(table).join(', ')
    return { table, statement: `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM (${select}) v` }
  })
}

function columnsOf(name: string): string[] {
  const table = listTables(assetsTables).find((known) => known.name === name)
  if (table?.kind !== 'counter') throw new FatalError('INTERNAL', `${name} is no counter`)
  return [...table.key, ...table.counts]
}
