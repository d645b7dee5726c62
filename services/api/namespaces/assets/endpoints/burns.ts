import type { Endpoint } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import {
  assetFilter,
  assetNameSearch,
  boundaries,
  greyLists,
  greyListsOfCollections,
  hideOffers,
  paging,
} from '../../parameter-groups/index.ts'
import { burnerPage } from '../lists/index.ts'
import { countHoldings } from '../counters/index.ts'
import { accountCount, burnDetail, burnDetailJson } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'

/** `/v1/burns` and what one account burned. */
export function burnEndpoints(setup: AssetsSetup): Endpoint[] {
  const list: Endpoint = {
    path: '/v1/burns',
    tag: 'burns',
    summary: 'Accounts that burned assets, with how many',
    parameters: [
      ...paging(setup.limits.burns),
      { name: 'match_owner', type: 'name', description: 'The account contains this text.' },
      ...assetFilter,
      ...assetNameSearch,
      ...greyLists,
      hideOffers,
      ...boundaries({ name: 'burned_by_account', type: 'string' }),
    ],
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(accountCount),
    run: (context) => burnerPage(setup.lists, setup.trigrams, context),
  }
  const detail: Endpoint = {
    path: '/v1/burns/:account',
    tag: 'burns',
    summary: 'What an account burned: collections and templates, with how many assets',
    parameters: [
      { name: 'account', in: 'path', type: 'string', description: 'Account.' },
      hideOffers,
      ...greyListsOfCollections,
    ],
    record: burnDetail,
    run: async ({ session, values }) => {
      const holdings = await countHoldings(session, values, 'burned_by_account', values.text('account')!)
      return burnDetailJson(session, setup, holdings)
    },
  }
  return [list, detail]
}
