import { shape } from '../../../endpoint/index.ts'
import type { RecordSchema } from '../../../endpoint/index.ts'
import { declareRecord } from '../../../records/fields/index.ts'
import type { PlainRecord } from '../../../records/fields/index.ts'
import { logFields } from '../../nft/logs/index.ts'
import type { ListingKind } from '../lists/listing-table.ts'
import { listingTables } from '../lists/listing-table.ts'

/** A logged action: the shape of its data, and SQL of data that the log does not store. */
interface LoggedAction {
  readonly schema: RecordSchema
  readonly data?: string
}

/**
 * Members of `data` that are read from the listing's row: their shape and SQL. `l` is the listing, `y` the
 * listing's token.
 */
type StoredMembers = Readonly<Record<string, readonly [schema: RecordSchema, sql: string]>>

function stored(members: StoredMembers): LoggedAction {
  const all = Object.entries(members)
  return {
    schema: shape.object(Object.fromEntries(all.map(([name, [schema]]) => [name, schema]))),
    data: `jsonb_build_object(${all.map(([name, [, sql]]) => `'${name}', ${sql}`).join(', ')})`,
  }
}

/** An amount as the chain writes it, for example `5.00000000 WAX`. SQL products keep all digits, quotients keep 16. */
const assetText = (amount: string): string =>
  `(${amount} * ('1e-' || y.token_precision)::numeric) || ' ' || y.token_symbol`

/** Payouts of royalty actions, with the sequence number of the action. */
const PAYOUTS = `(SELECT CASE WHEN min(p.category) = 4
      THEN jsonb_build_object('collection_name', min(p.collection_name), 'collection_author', min(p.recipient),
        'amount', min(${assetText('p.amount')}))
      ELSE jsonb_strip_nulls(jsonb_build_object('collection_name', min(p.collection_name),
        'asset_id', min(p.asset_id)::text, 'template_id', min(p.template_id), 'rule_id', min(p.rule_id)::text,
        'payouts', jsonb_agg(jsonb_build_object('recipient', p.recipient, 'amount', ${assetText('p.amount')})
          ORDER BY p.payout_index))) END
    FROM market.royalty_payouts p JOIN market.tokens y USING (token_symbol) WHERE p.seq = e.seq)`

const payouts = shape.list(
  shape.object({ recipient: shape.text('Account'), amount: shape.text('Amount') }),
  'Accounts that were paid',
)
const ofAsset = { collection_name: shape.text('Collection'), asset_id: shape.text('Asset') }

const royalty = (members: Readonly<Record<string, RecordSchema>>): LoggedAction => ({
  schema: shape.object(members),
  data: PAYOUTS,
})

/** Royalties that were paid when the listing was settled. */
const royalties = {
  logroyfound: royalty({ ...ofAsset, payouts }),
  logroytempl: royalty({ ...ofAsset, template_id: shape.integer('Template of the rule'), payouts }),
  logroyattr: royalty({ ...ofAsset, rule_id: shape.text('Attribute rule'), payouts }),
  logroydust: royalty({
    collection_name: ofAsset.collection_name,
    collection_author: shape.text('Account that was paid'),
    amount: shape.text('Amount'),
  }),
}

const listed: StoredMembers = {
  maker_marketplace: [shape.text('Marketplace of the listing'), 'l.maker_marketplace'],
  collection_fee: [shape.number('Share of the price that goes to the collection'), 'l.collection_fee'],
}
const taken: StoredMembers = {
  taker_marketplace: [shape.text('Marketplace of the purchase'), 'l.taker_marketplace'],
}
const nothing: LoggedAction = { schema: shape.object({}) }

/** The logged actions of each kind of listing. */
const logged: Readonly<Record<ListingKind, Readonly<Record<string, LoggedAction>>>> = {
  sale: {
    lognewsale: stored(listed),
    logsalestart: stored({
      offer_id: [shape.decimal('Trade offer that contains the assets'), 'l.offer_id::text'],
    }),
    cancelsale: nothing,
    purchasesale: stored({
      ...taken,
      intended_delphi_median: [
        shape.decimal('Median of the oracle in the purchase action'),
        'coalesce(l.intended_median, 0)::text',
      ],
    }),
  },
  auction: {
    lognewauct: stored({ starting_bid: [shape.text('Amount'), assetText('l.starting_price')], ...listed }),
    logauctstart: nothing,
    cancelauct: nothing,
    auctclaimbuy: nothing,
    auctclaimsel: nothing,
  },
  buyoffer: {
    lognewbuyo: stored(listed),
    cancelbuyo: nothing,
    declinebuyo: nothing,
    acceptbuyo: stored(taken),
  },
  template_buyoffer: {
    lognewtbuyo: stored(listed),
    canceltbuyo: nothing,
    fulfilltbuyo: stored(taken),
  },
}

/** The log of a kind of listing: its actions, and the record of its entries. */
export interface ListingLog {
  /** Names of all actions of the log. */
  readonly actions: readonly string[]
  readonly record: PlainRecord
}

/**
 * Declares the log of a kind of listing.
 * @param of name of the record of a listing.
 */
export function listingLog(kind: ListingKind, of: string): ListingLog {
  const actions: Readonly<Record<string, LoggedAction>> = { ...logged[kind], ...royalties }
  const schemas = Object.fromEntries(Object.entries(actions).map(([name, { schema }]) => [name, schema]))
  const cases = Object.entries(actions).flatMap(([name, { data }]) =>
    data === undefined ? [] : [`WHEN '${name}' THEN ${data}`],
  )
  const data = `coalesce(e.data, CASE n.name ${cases.join(' ')} END, '{}')::text`
  const record = declareRecord(
    `${of}Log`,
    `An action on the ${listingTables[kind].one}`,
    logFields(schemas, { seq: 'e.seq', name: 'n.name', data }),
  )
  return { actions: Object.keys(actions), record }
}
