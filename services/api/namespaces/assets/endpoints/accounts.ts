import type { Endpoint, EndpointContext, Parameter } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import {
  assetFilter,
  assetNameSearch,
  boundaries,
  counting,
  greyLists,
  greyListsOfCollections,
  hideOffers,
  paging,
} from '../../parameter-groups/index.ts'
import { countOwners, ownerPage } from '../lists/index.ts'
import { accountCollection, countHoldings } from '../counters/index.ts'
import { accountCollectionRecord, accountCount, accountDetail, accountDetailJson } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'
import { countTwin } from './list.ts'

const accountName: Parameter = { name: 'account', in: 'path', type: 'string', description: 'Account.' }

const accountCollectionEndpoint: Endpoint = {
  path: '/v1/accounts/:account/:collection_name',
  tag: 'accounts',
  summary: 'What an account owns of a collection, by schema and by template',
  parameters: [
    accountName,
    { name: 'collection_name', in: 'path', type: 'string', description: 'Collection.' },
  ],
  record: accountCollectionRecord,
  cache: 'path',
  run: ({ session, values }) =>
    accountCollection(session, values.text('account')!, values.text('collection_name')!),
}

/** `/v1/accounts`, its count, what one account owns, and what it owns of one collection. */
export function accountEndpoints(setup: AssetsSetup): Endpoint[] {
  const count = async (context: EndpointContext): Promise<string> =>
    `"${await countOwners(setup.lists, setup.trigrams, context)}"`
  const list: Endpoint = {
    path: '/v1/accounts',
    tag: 'accounts',
    summary: 'Accounts that own assets, with how many',
    parameters: [
      ...paging(setup.limits.accounts),
      counting,
      { name: 'match_owner', type: 'name', description: 'The account contains this text.' },
      ...assetFilter,
      ...assetNameSearch,
      ...greyLists,
      hideOffers,
      ...boundaries({ name: 'owner', type: 'string', isFilter: true }),
    ],
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(accountCount),
    run: async (context) => {
      if (context.values.bool('count') === true) return count(context)
      return ownerPage(setup.lists, setup.trigrams, context)
    },
  }
  const detail: Endpoint = {
    path: '/v1/accounts/:account',
    tag: 'accounts',
    summary: 'What an account owns: collections, schemas and templates, with how many assets',
    parameters: [accountName, hideOffers, ...greyListsOfCollections],
    record: accountDetail,
    run: async ({ session, values }) => {
      const holdings = await countHoldings(session, values, 'owner', values.text('account')!)
      return accountDetailJson(session, setup, holdings)
    },
  }
  return [list, countTwin(list, count), detail, accountCollectionEndpoint]
}
