import type { Endpoint, EndpointContext, Parameter } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import {
  assetFilter,
  assetNameSearch,
  boundaries,
  counting,
  greyListsOfCollections,
  hideOffers,
  paging,
  sorting,
} from '../../parameter-groups/index.ts'
import { assetList, countAssets } from '../lists/index.ts'
import { countFromCounters } from '../counters/index.ts'
import type { AssetsSetup } from '../setup.ts'
import { countTwin, listJson, oneJson } from './list.ts'

const NOT_FOUND = { status: 416, message: 'Asset not found' } as const

const SORTS = ['asset_id', 'minted', 'updated', 'transferred', 'template_mint', 'name', 'original_mint']

const mintNumber = { type: 'int', minimum: 1 } as const

/** Parameters that only the asset list has. */
const ownParameters: readonly Parameter[] = [
  {
    name: 'authorized_account',
    type: 'name',
    description: 'Assets of collections that list this account as authorized.',
  },
  { name: 'template_whitelist', type: 'id', list: 'named', description: 'Only these templates.' },
  {
    name: 'template_blacklist',
    type: 'id',
    list: 'named',
    description: 'Not these templates; assets without a template stay.',
  },
  {
    name: 'hide_templates_by_accounts',
    type: 'name',
    list: 'named',
    description: 'Leave out templates of which one of these accounts owns an asset.',
  },
  {
    name: 'only_duplicate_templates',
    type: 'bool',
    description: 'Only assets whose owner has an older one of the same template.',
  },
  { name: 'has_backed_tokens', type: 'bool', description: 'With, or without, backed tokens.' },
  {
    name: 'has_template_buyoffer',
    type: 'bool',
    description: 'With, or without, a buy offer for the template.',
  },
  { name: 'template_mint', ...mintNumber, description: 'Mint number.' },
  { name: 'min_template_mint', ...mintNumber, description: 'Mint number is at least this.' },
  {
    name: 'max_template_mint',
    ...mintNumber,
    description: 'Mint number is at most this; assets without a template stay.',
  },
  { name: 'original_mint', ...mintNumber, description: 'Mint number of the asset it was bridged from.' },
  { name: 'min_original_mint', ...mintNumber, description: 'That number is at least this.' },
  { name: 'max_original_mint', ...mintNumber, description: 'That number is at most this.' },
]

/** Parameters of the list of assets. */
export function assetListParameters({ limits }: Pick<AssetsSetup, 'limits'>): Parameter[] {
  return [
    ...paging(limits.assets),
    ...sorting(SORTS, { lenient: true }),
    counting,
    ...assetFilter,
    ...assetNameSearch,
    ...greyListsOfCollections,
    hideOffers,
    ...boundaries({ name: 'asset_id', type: 'id', isFilter: true }),
    ...ownParameters,
  ]
}

/** `/v1/assets`, its count, and one asset. */
export function assetEndpoints(setup: AssetsSetup): Endpoint[] {
  const count = async (context: EndpointContext): Promise<string> => {
    const { session, values, attributes } = context
    const kept = await countFromCounters(session, values, attributes, setup.trigrams)
    return `"${kept ?? (await countAssets(setup.lists, setup.trigrams, context))}"`
  }
  const list: Endpoint = {
    path: '/v1/assets',
    tag: 'assets',
    summary: 'Assets',
    parameters: assetListParameters(setup),
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(setup.assetSchema),
    run: async (context) => {
      if (context.values.bool('count') === true) return count(context)
      const { list } = await assetList(setup.lists, setup.trigrams, context)
      return listJson(setup.lists, context, list, setup.records.asset)
    },
  }
  const one: Endpoint = {
    path: '/v1/assets/:asset_id',
    tag: 'assets',
    summary: 'One asset',
    parameters: [{ name: 'asset_id', in: 'path', type: 'id', description: 'Asset.' }],
    record: setup.assetSchema,
    failures: [NOT_FOUND],
    cache: 'path',
    run: ({ session, values }) =>
      oneJson(session, String(values.id('asset_id')), setup.records.asset, NOT_FOUND),
  }
  return [list, countTwin(list, count), one]
}
