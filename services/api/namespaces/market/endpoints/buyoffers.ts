import type { Endpoint } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { boundaries, counting, paging, sorting } from '../../parameter-groups/index.ts'
import { assetNumbers, listingFilter, stateParameter, templateLists } from '../parameters.ts'
import { buyofferRecord, templateBuyofferRecord } from '../records/index.ts'
import type { MarketSetup } from '../setup.ts'
import { countTwin, runListings, runOne } from './list.ts'

const SORTS = ['created', 'updated', 'buyoffer_id', 'price', 'template_mint', 'name', 'effective_mint']
const NOT_FOUND = { status: 416, message: 'Buyoffer not found' } as const

/** `/v1/buyoffers`, its count, and one buy offer. */
export function buyofferEndpoints(setup: MarketSetup): Endpoint[] {
  const runs = runListings(setup, { kind: 'buyoffer' }, setup.records.buyoffer)
  const list: Endpoint = {
    path: '/v1/buyoffers',
    tag: 'buyoffers',
    summary: 'Offers to buy assets from their owner',
    parameters: [
      ...paging(setup.limits.buyoffers),
      ...sorting(SORTS),
      counting,
      stateParameter(
        '0 pending, 1 declined, 2 cancelled, 3 accepted, 4 invalid (the recipient does not own an asset)',
      ),
      ...listingFilter,
      ...assetNumbers,
      ...templateLists,
      ...boundaries({ name: 'buyoffer_id', type: 'id' }),
    ],
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(buyofferRecord),
    run: runs.page,
  }
  const one: Endpoint = {
    path: '/v1/buyoffers/:buyoffer_id',
    tag: 'buyoffers',
    summary: 'One buy offer',
    parameters: [{ name: 'buyoffer_id', in: 'path', type: 'id', description: 'Buy offer.' }],
    record: buyofferRecord,
    failures: [NOT_FOUND],
    cache: 'path',
    run: runOne('buyoffer_id', setup.records.buyoffer, NOT_FOUND),
  }
  return [list, countTwin(list, runs.count), one]
}

/** `/v1/template_buyoffers`, its count, and one template buy offer. */
export function templateBuyofferEndpoints(setup: MarketSetup): Endpoint[] {
  const runs = runListings(setup, { kind: 'template_buyoffer' }, setup.records.templateBuyoffer)
  const list: Endpoint = {
    path: '/v1/template_buyoffers',
    tag: 'template_buyoffers',
    summary: 'Offers to buy any asset of a template',
    parameters: [
      ...paging(setup.limits.buyoffers),
      ...sorting(SORTS),
      counting,
      stateParameter('0 listed, 1 cancelled, 2 sold'),
      ...listingFilter,
      ...templateLists,
      ...boundaries({ name: 'buyoffer_id', type: 'id' }),
    ],
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(templateBuyofferRecord),
    run: runs.page,
  }
  const one: Endpoint = {
    path: '/v1/template_buyoffers/:buyoffer_id',
    tag: 'template_buyoffers',
    summary: 'One template buy offer',
    parameters: [{ name: 'buyoffer_id', in: 'path', type: 'id', description: 'Template buy offer.' }],
    record: templateBuyofferRecord,
    failures: [NOT_FOUND],
    cache: 'path',
    run: runOne('buyoffer_id', setup.records.templateBuyoffer, NOT_FOUND),
  }
  return [list, countTwin(list, runs.count), one]
}
