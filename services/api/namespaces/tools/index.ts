import type { PageLimits } from '../page-limits.ts'
import type { Namespace } from '../../endpoint/index.ts'
import { ListReader, Statistics } from '../../planner/index.ts'
import { assemblerOf, recordKind } from '../../records/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'
import { liveRecord } from '../nft/endpoints/index.ts'
import { toolsEndpoints } from './endpoints/endpoints.ts'
import { LINKS } from './lists/link-list.ts'
import { linksOf } from './records/links.ts'
import type { ToolsSetup } from './setup.ts'

export interface ToolsNamespaceOptions {
  /** Account of the tools contract. */
  readonly contract: string
  /** Account of the assets contract, used until the settings of the tools contract name the account. */
  readonly assetsContract: string | undefined
  readonly limits: PageLimits
  /** Fragments of the rows that the assets in links share. */
  readonly shared: Fragments
}

/** The tools namespace: links with which accounts claim assets. */
export function createToolsNamespace(options: ToolsNamespaceOptions): Namespace {
  const { shared } = options
  const given = { tools_contract: `"${options.contract}"` }
  const links = recordKind(shared, assemblerOf(linksOf(options.assetsContract), { given }))
  const lists = new ListReader(new Statistics([LINKS]))
  const setup: ToolsSetup = { ...options, links, lists }
  return {
    name: 'tools',
    endpoints: toolsEndpoints(setup),
    records: {
      link: liveRecord(links, {
        ...{ table: 'tools.links', key: 'r.link_id', keyType: 'bigint', path: '/v1/links/' },
        ...{ accounts: ['r.creator', 'r.claimer'], assets: 'r.asset_ids' },
      }),
    },
    forget() {
      shared.clear()
      lists.clear()
    },
  }
}
