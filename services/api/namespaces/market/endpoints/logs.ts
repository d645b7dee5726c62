import { id, inPath, named } from '../../../../core/parameters/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import type { LoggedActions } from '../../nft/logs/index.ts'
import { logParameters } from '../../nft/logs/index.ts'
import type { ListingKey, ListingKind } from '../lists/listing-table.ts'
import { listingLog, selectMarketLogs } from '../lists/log-list.ts'
import {
  auctionActions,
  buyofferActions,
  saleActions,
  templateBuyofferActions,
} from '../records/log-schemas.ts'
import type { MarketSetup } from '../setup.ts'

/** The logs of one kind of listing. */
interface LogKind {
  readonly group: string
  readonly kind: ListingKind
  readonly parameter: ListingKey
  readonly of: string
  /** Name of the record. */
  readonly record: string
  readonly actions: LoggedActions
}

const kinds: readonly LogKind[] = [
  {
    group: 'sales',
    kind: 'sale',
    parameter: 'sale_id',
    of: 'a sale',
    record: 'SaleLog',
    actions: saleActions,
  },
  {
    group: 'auctions',
    kind: 'auction',
    parameter: 'auction_id',
    of: 'an auction',
    record: 'AuctionLog',
    actions: auctionActions,
  },
  {
    group: 'buyoffers',
    kind: 'buyoffer',
    parameter: 'buyoffer_id',
    of: 'a buy offer',
    record: 'BuyofferLog',
    actions: buyofferActions,
  },
  {
    group: 'template_buyoffers',
    kind: 'template_buyoffer',
    parameter: 'buyoffer_id',
    of: 'a template buy offer',
    record: 'TemplateBuyofferLog',
    actions: templateBuyofferActions,
  },
]

/** The `/logs` of sales, auctions, buy offers and template buy offers. */
export function marketLogEndpoints(setup: MarketSetup): Endpoint[] {
  return kinds.map(({ group, kind, parameter, of, record: title, actions }) => {
    const record = listingLog(kind, title, of, actions)
    return endpoint({
      path: `/v1/${group}/:${parameter}/logs`,
      tag: group,
      summary: `What happened to ${of}, by the actions that did it`,
      parameters: { ...named(parameter, inPath(id(`Id of ${of}.`))), ...logParameters(setup.limits.logs) },
      record: shape.list(record.schema),
      run: ({ session, values }) =>
        selectMarketLogs(session, setup, values, {
          kind,
          id: values[parameter],
          actions: Object.keys(actions),
          record,
        }),
    })
  })
}
