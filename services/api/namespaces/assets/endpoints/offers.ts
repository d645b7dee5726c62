import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import {
  assetFilter,
  boundaries,
  counting,
  greyLists,
  paging,
  sorting,
} from '../../parameter-groups/index.ts'
import { offerList } from '../lists/index.ts'
import { countOffersFromCounters } from '../counters/index.ts'
import { offerRecord } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from './list.ts'
import { countTwin, oneJson, runCount, runList } from './list.ts'

const NOT_FOUND = { status: 416, message: 'Offer not found' } as const

/** Parameters of both parties and the memo, which offers and transfers share. */
export const partyParameters: readonly Parameter[] = [
  { name: 'account', type: 'name', list: 'named', description: 'Sender or recipient is one of these.' },
  { name: 'sender', type: 'name', list: 'named', description: 'Sender is one of these.' },
  { name: 'recipient', type: 'name', list: 'named', description: 'Recipient is one of these.' },
  { name: 'memo', type: 'string', minimum: 1, description: 'Memo.' },
  { name: 'match_memo', type: 'string', minimum: 1, description: 'Text in the memo, in any letter case.' },
  { name: 'hide_contracts', type: 'bool', description: 'Leave out accounts with code that are not named.' },
]

const idList = { type: 'id', list: 'named' } as const

const ownParameters: readonly Parameter[] = [
  {
    name: 'state',
    type: 'string',
    description: '0 pending, 1 invalid, 2 unknown, 3 accepted, 4 declined, 5 cancelled; several by comma.',
  },
  {
    name: 'account_whitelist',
    type: 'name',
    list: 'named',
    description: 'Sender or recipient is one of these.',
  },
  { name: 'sender_asset_blacklist', ...idList, description: 'The sender gives none of these.' },
  { name: 'sender_asset_whitelist', ...idList, description: 'The sender gives nothing but these.' },
  { name: 'recipient_asset_blacklist', ...idList, description: 'The recipient gives none of these.' },
  { name: 'recipient_asset_whitelist', ...idList, description: 'The recipient gives nothing but these.' },
  { name: 'is_recipient_contract', type: 'bool', description: 'The recipient has code, or has none.' },
  { name: 'hide_empty_offers', type: 'bool', description: 'Only offers with assets on both sides.' },
]

/** `/v1/offers`, its count, and one offer. */
export function offerEndpoints(setup: AssetsSetup): Endpoint[] {
  const record = offerRecord(setup.assetSchema)
  const records: ListOfRecords = {
    lists: setup.lists,
    list: ({ session, values }) => offerList(setup.lists, session, values),
    kind: setup.records.offer,
    counted: countOffersFromCounters,
  }
  const list: Endpoint = {
    path: '/v1/offers',
    tag: 'offers',
    summary: 'Offers',
    parameters: [
      ...paging(setup.limits.offers),
      ...sorting(['created', 'updated']),
      counting,
      ...partyParameters,
      ...ownParameters,
      ...assetFilter,
      ...greyLists,
      ...boundaries({ name: 'offer_id', type: 'id' }),
    ],
    record: shape.list(record),
    run: runList(records),
  }
  const one: Endpoint = {
    path: '/v1/offers/:offer_id',
    tag: 'offers',
    summary: 'One offer',
    parameters: [{ name: 'offer_id', in: 'path', type: 'id', description: 'Offer.' }],
    record,
    failures: [NOT_FOUND],
    cache: 'path',
    run: ({ session, values }) =>
      oneJson(session, String(values.id('offer_id')), setup.records.offer, NOT_FOUND),
  }
  return [list, countTwin(list, runCount(records)), one]
}
