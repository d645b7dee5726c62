import { ASSETS_ACCOUNT } from '../contracts/rows.ts'
import { collectionActions } from '../contracts/assets-collections.ts'
import { MARKET_ACCOUNT, ORACLE_ACCOUNT, TOOLS_ACCOUNT } from '../contracts/market-rows.ts'
import { marketActions } from '../contracts/market.ts'
import { oracleActions } from '../contracts/oracle.ts'
import { ownershipActions } from '../contracts/assets-ownership.ts'
import { SECOND_TOKEN_ACCOUNT, TOKEN_ACCOUNT, tokenActions } from '../contracts/token.ts'
import { SYSTEM_ACCOUNT, systemActions } from '../contracts/system.ts'
import { toolsActions } from '../contracts/tools.ts'
import type { AccountWatcher } from '../contracts/system.ts'
import type { ActionContext, ActionHandler, ContractRegistry } from '../runtime/index.ts'
import type { Directory } from './directory.ts'

/**
 * The contracts of the chain. They report created entities to the directory. `directory` is a function, because the
 * directory is built from the chain that already needs the contracts.
 */
export function contractsFor(directory: () => Directory, watcher: AccountWatcher): ContractRegistry {
  const assets = new Map<string, ActionHandler>([
    ...collectionActions,
    ...ownershipActions({
      set: (id, owner) => directory().set(id, owner),
      delete: (id) => directory().delete(id),
    }),
  ])
  watch(assets, 'createcol', (context) => {
    const { collection_name: name, author } = context.data() as { collection_name: string; author: string }
    directory().add(directory().collections, { name, author, schemas: [], templates: [] })
  })
  watch(assets, 'createschema', (context) => {
    const data = context.data() as { collection_name: string; schema_name: string }
    const schemas = findCollection(directory(), data.collection_name)?.schemas
    if (schemas !== undefined) directory().add(schemas, data.schema_name)
  })
  watch(assets, 'lognewtempl', (context) => {
    const data = context.data() as { collection_name: string; template_id: number }
    const templates = findCollection(directory(), data.collection_name)?.templates
    if (templates !== undefined) directory().add(templates, data.template_id)
  })
  return new Map([
    [ASSETS_ACCOUNT, assets],
    [MARKET_ACCOUNT, new Map(marketActions([TOKEN_ACCOUNT, SECOND_TOKEN_ACCOUNT]))],
    [ORACLE_ACCOUNT, new Map(oracleActions)],
    [TOOLS_ACCOUNT, new Map(toolsActions)],
    [TOKEN_ACCOUNT, new Map(tokenActions)],
    [SECOND_TOKEN_ACCOUNT, new Map(tokenActions)],
    [SYSTEM_ACCOUNT, new Map(systemActions(watcher))],
  ])
}

function watch(
  actions: Map<string, ActionHandler>,
  name: string,
  note: (context: ActionContext) => void,
): void {
  const handler = actions.get(name)
  actions.set(name, (context) => {
    handler?.(context)
    note(context)
  })
}

function findCollection(directory: Directory, name: string): Directory['collections'][number] | undefined {
  return directory.collections.find((collection) => collection.name === name)
}
