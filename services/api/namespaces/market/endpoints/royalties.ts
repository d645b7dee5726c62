import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { RequestError, shape } from '../../../endpoint/index.ts'
import { boundaries, counting, paging, sorting } from '../../parameter-groups/index.ts'
import { priceSymbols, tradeTimes } from '../parameters.ts'
import { payoutList } from '../lists/index.ts'
import { royaltyAttributes, royaltyConfig, royaltyTemplates } from '../queries/index.ts'
import {
  CATEGORIES,
  LISTING_TYPES,
  payoutRecord,
  royaltyAttributeRecord,
  royaltyConfigRecord,
  royaltySumRecord,
  royaltyTemplateRecord,
} from '../records/index.ts'
import type { MarketSetup } from '../setup.ts'
import { royaltySums } from '../statistics/index.ts'
import type { ListOfRecords } from '../../assets/index.ts'
import { countTwin, runCount, runList } from './list.ts'

const NOT_FOUND = { status: 416, message: 'Royalty config not found' } as const

const tag = 'royalties'
const names = { type: 'name', list: 'named' } as const
const collectionPath: Parameter = {
  name: 'collection_name',
  in: 'path',
  type: 'string',
  description: 'Collection.',
}

const payoutFilter: readonly Parameter[] = [
  { name: 'recipient', ...names, description: 'Recipient is one of these.' },
  { name: 'collection_name', ...names, description: 'Collection is one of these.' },
  { name: 'asset_id', type: 'id', list: 'named', description: 'Asset is one of these.' },
  priceSymbols,
  { name: 'listing_type', type: 'string', values: LISTING_TYPES, description: 'What was traded.' },
  { name: 'listing_id', type: 'id', description: 'Its id.' },
  {
    name: 'category',
    type: 'string',
    list: 'comma',
    values: CATEGORIES,
    description: 'Rule is one of these.',
  },
]

/** `/v1/royalties/...`. */
export function royaltyEndpoints(setup: MarketSetup): Endpoint[] {
  const limit = setup.limits.royalties
  const records: ListOfRecords = {
    lists: setup.lists,
    list: (context) => payoutList(context, setup),
    kind: setup.records.payout,
  }
  const payouts: Endpoint = {
    path: '/v1/royalties/payouts',
    tag,
    summary: 'Royalties that were paid out',
    parameters: [
      ...paging(limit),
      ...sorting(['created', 'amount']),
      counting,
      ...payoutFilter,
      ...boundaries({ name: 'log_global_sequence', type: 'id' }),
    ],
    record: shape.list(payoutRecord),
    run: runList(records),
  }
  return [
    payouts,
    countTwin(payouts, runCount(records)),
    {
      path: '/v1/royalties/accounts/:account',
      tag,
      summary: 'What an account earned, by token',
      parameters: [
        { name: 'account', in: 'path', type: 'string', description: 'Account.' },
        { name: 'collection_name', ...names, description: 'Collection is one of these.' },
        priceSymbols,
        ...tradeTimes,
      ],
      record: shape.list(royaltySumRecord),
      run: ({ session, values }) => royaltySums(session, values),
    },
    {
      path: '/v1/royalties/:collection_name',
      tag,
      summary: 'How a collection splits its fee',
      parameters: [collectionPath],
      record: royaltyConfigRecord,
      failures: [NOT_FOUND],
      cache: 'path',
      run: async ({ session, values }) => {
        const text = await royaltyConfig(session, setup.contract, values.text('collection_name')!)
        if (text === undefined) throw new RequestError(NOT_FOUND.status, NOT_FOUND.message)
        return text
      },
    },
    {
      path: '/v1/royalties/:collection_name/templates',
      tag,
      summary: 'Who shares for which template',
      parameters: [
        collectionPath,
        { name: 'template_id', type: 'id', list: 'named', description: 'Template is one of these.' },
        ...paging(limit),
      ],
      record: shape.list(royaltyTemplateRecord),
      run: ({ session, values }) => royaltyTemplates(session, setup.contract, values),
    },
    {
      path: '/v1/royalties/:collection_name/attributes',
      tag,
      summary: 'Who shares for which attribute',
      parameters: [
        collectionPath,
        { name: 'source', type: 'int', minimum: 0, description: 'Where the attribute is looked up.' },
        { name: 'field', type: 'string', minimum: 1, description: 'Name of the attribute.' },
        ...paging(limit),
      ],
      record: shape.list(royaltyAttributeRecord),
      run: ({ session, values }) => royaltyAttributes(session, setup.contract, values),
    },
  ]
}
