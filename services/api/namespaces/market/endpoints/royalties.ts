import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { ofCollection } from '../../nft/parameters/index.ts'
import {
  attributeRuleParameters,
  payoutParameters,
  royaltySumParameters,
  templateRuleParameters,
} from '../parameters.ts'
import type { PayoutValues } from '../parameters.ts'
import { payoutList } from '../lists/payout-list.ts'
import { royaltyAttributes, royaltyConfig, royaltyTemplates } from '../lists/royalty-rules.ts'
import {
  royaltyAttributeRecord,
  royaltyConfigRecord,
  royaltySumRecord,
  royaltyTemplateRecord,
} from '../records/royalty-schemas.ts'
import type { MarketSetup } from '../setup.ts'
import { royaltySums } from '../aggregates/royalty-sums.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { countEndpointOf, runCount, runList } from '../../nft/endpoints/index.ts'

const notFound = { status: 416, message: 'Royalty config not found' } as const

const TAG = 'royalties'

/** Endpoints `/v1/royalties/...`. */
export function royaltyEndpoints(setup: MarketSetup): Endpoint[] {
  const limit = setup.limits.royalties
  const records: ListOfRecords<PayoutValues> = {
    lists: setup.lists,
    list: (context) => payoutList(context, setup),
    kind: setup.records.payout,
  }
  const payouts = endpoint({
    path: '/v1/royalties/payouts',
    tag: TAG,
    summary: 'Payouts of royalties',
    parameters: payoutParameters(limit),
    record: shape.list(setup.records.payout.schema),
    run: runList(records),
  })
  return [
    payouts,
    countEndpointOf(payouts, runCount(records)),
    endpoint({
      path: '/v1/royalties/accounts/:account',
      tag: TAG,
      summary: 'Sums of the royalties that an account earned, by token',
      parameters: royaltySumParameters,
      record: shape.list(royaltySumRecord),
      run: ({ session, values }) => royaltySums(session, values),
    }),
    endpoint({
      path: '/v1/royalties/:collection_name',
      tag: TAG,
      summary:
        'Weights by which a collection splits its fee among founders, template rules and attribute rules',
      parameters: ofCollection,
      record: royaltyConfigRecord.schema,
      failures: [notFound],
      cache: 'path',
      run: async ({ session, values }) => {
        const text = await royaltyConfig(session, setup.contract, values.collection_name)
        if (text === undefined) throw new RequestError(notFound.status, notFound.message)
        return text
      },
    }),
    endpoint({
      path: '/v1/royalties/:collection_name/templates',
      tag: TAG,
      summary: 'Royalty rules of a collection by template: recipients and their weights',
      parameters: templateRuleParameters(limit),
      record: shape.list(royaltyTemplateRecord.schema),
      run: ({ session, values }) => royaltyTemplates(session, setup.contract, values),
    }),
    endpoint({
      path: '/v1/royalties/:collection_name/attributes',
      tag: TAG,
      summary: 'Royalty rules of a collection by attribute: recipients and their weights',
      parameters: attributeRuleParameters(limit),
      record: shape.list(royaltyAttributeRecord.schema),
      run: ({ session, values }) => royaltyAttributes(session, setup.contract, values),
    }),
  ]
}
