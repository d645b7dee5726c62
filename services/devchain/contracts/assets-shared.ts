import { FatalError } from '../../core/errors/index.ts'
import { ASSETS_ACCOUNT } from './rows.ts'
import type { CollectionRow, ConfigRow, SchemaRow } from './rows.ts'
import type { ActionContext } from '../runtime/index.ts'
import { nameValue } from '../runtime/index.ts'

/** Index of asset owners; follows the chain, including forks. */
export interface AssetOwners {
  set(id: bigint, owner: string): void
  delete(id: bigint): void
}

/** Returns the row, or throws if the row is missing: the devchain generates only actions that succeed. */
export function readRow<T>(row: T | undefined, what: string): T {
  if (row === undefined) throw new FatalError('INTERNAL', `the devchain planned an action without ${what}`)
  return row
}

/** Reads the configuration row in an action of the assets contract itself. */
export function configOf(context: ActionContext): ConfigRow {
  return readRow(context.get('config', ASSETS_ACCOUNT, nameValue('config')), 'a config row')
}

/** Reads the configuration row of the assets contract in an action of another contract. */
export function configOfAssets(context: Pick<ActionContext, 'host'>): ConfigRow {
  const row = context.host.row(ASSETS_ACCOUNT, 'config', ASSETS_ACCOUNT, nameValue('config'))
  return readRow(row, 'a config row')
}

/** Writes the configuration row of the assets contract. */
export function putConfig(context: ActionContext, config: ConfigRow): void {
  context.put(
    { table: 'config', scope: ASSETS_ACCOUNT, key: nameValue('config'), payer: ASSETS_ACCOUNT },
    { ...config },
  )
}

/** The row of an existing collection. */
export function collectionOf(context: ActionContext, name: string): CollectionRow {
  const row = context.get('collections', ASSETS_ACCOUNT, nameValue(name))
  return readRow(row, `collection ${name}`)
}

/** The row of an existing schema. */
export function schemaOf(context: ActionContext, collection: string, schema: string): SchemaRow {
  return readRow(context.get('schemas', collection, nameValue(schema)), `schema ${schema}`)
}

/** Notifies the accounts in the collection's notify list. */
export function notifyCollection(context: ActionContext, name: string): void {
  for (const account of collectionOf(context, name).notify_accounts) context.notify(account)
}
