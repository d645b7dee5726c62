import type { Session, SqlValue } from '../../../database/index.ts'
import type { Json } from '../../../json/index.ts'
import {
  assetArray,
  COLLECTION_VERSION,
  distinctIds,
  jsonMembers,
  jsonText,
  packRows,
  queryPacked,
  quoted,
  renderUnchanged,
  TEMPLATE_VERSION,
} from '../../assets/index.ts'
import type { KeyPage } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { containedAssetRenderer } from './asset-members.ts'

const hasCode = (account: string): string =>
  `(EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = ${account}))::text`

/** Members that every listing has; `l` is the row, `c` its collection. */
const common = {
  seller: quoted('l.seller'),
  buyer: quoted('l.buyer'),
  maker_marketplace: quoted('l.maker_marketplace'),
  taker_marketplace: quoted('l.taker_marketplace'),
  current_collection_fee: 'c.market_fee',
  updated_at_block: quoted('l.updated_at_block'),
  updated_at_time: quoted('l.updated_at_time'),
  created_at_block: quoted('l.created_at_block'),
  created_at_time: quoted('l.created_at_time'),
}

/** The price of everything but sales; `y` is its token. */
const price = `'{"token_contract":"' || y.token_contract || '","token_symbol":"' || y.token_symbol || '","token_precision":'
    || y.token_precision || ',"amount":"' || l.price || '"}'`

const SALE_PRICE = `concat('{"token_contract":"', y.token_contract, '","token_symbol":"', y.token_symbol,
    '","token_precision":', y.token_precision, ',"median":', coalesce(r.median::text, 'null'), ',"amount":',
    ${quoted('coalesce(l.price, market.settlement_price(l.listing_price, r.factor, r.divisor))')}, '}')`

const BIDS = `coalesce((SELECT string_agg(concat('{"number":', b.number, ',"account":"', b.account, '","amount":"', b.amount,
      '","created_at_block":"', x.block_num, '","created_at_time":"', x.block_time, '","txid":"', encode(x.txid, 'hex'), '"}'),
      ',' ORDER BY b.number)
    FROM (SELECT k.seq, k.account, k.amount, row_number() OVER (ORDER BY k.seq) AS number
      FROM market.bids k WHERE k.auction_id = l.auction_id) b LEFT JOIN LATERAL market.origin_of(b.seq) x ON true), '')`

const AUCTION_STATE = `market.auction_state(l.state, l.end_time, l.buyer, l.asset_count,
    l.claimed_by_buyer OR l.claimed_by_seller, $2::bigint, (SELECT g.v2_since_block IS NOT NULL FROM market.config g))`

/** Fields behind the members: assets, the collection with its version, the fee of the listing. */
const shared = [
  `array_to_string(l.asset_ids, ',')`,
  'l.collection_name',
  COLLECTION_VERSION,
  `'"market_fee":' || l.collection_fee`,
]
/** In place of the template that is asked for, with its version. */
const noTemplate = ["''", "''"]

const withCollection = 'JOIN assets.collections c ON c.collection_name = l.collection_name'

const SALES = {
  name: 'sale-records',
  text: `SELECT ${packRows([
    'l.sale_id',
    jsonMembers({
      sale_id: quoted('l.sale_id'),
      ...common,
      offer_id: quoted('l.offer_id'),
      price: SALE_PRICE,
      listing_price: quoted('l.listing_price'),
      listing_symbol: quoted('l.listing_symbol'),
      collection_name: quoted('l.collection_name'),
      is_seller_contract: hasCode('l.seller'),
      state: 'l.state',
    }),
    ...shared,
    ...noTemplate,
  ])}
    FROM market.sales l ${withCollection} JOIN market.tokens y ON y.token_symbol = l.settlement_symbol
      LEFT JOIN market.rates r ON r.listing_symbol = l.listing_symbol AND r.settlement_symbol = l.settlement_symbol
    WHERE l.sale_id = ANY($1::bigint[]) AND l.offer_id IS NOT NULL`,
}

const AUCTIONS = {
  name: 'auction-records',
  text: `SELECT ${packRows([
    'l.auction_id',
    jsonMembers({
      auction_id: quoted('l.auction_id'),
      ...common,
      price,
      claimed_by_buyer: 'l.claimed_by_buyer::text',
      claimed_by_seller: 'l.claimed_by_seller::text',
      end_time: quoted('l.end_time * 1000'),
      is_seller_contract: hasCode('l.seller'),
      bids: `'[' || ${BIDS} || ']'`,
      state: AUCTION_STATE,
    }),
    ...shared,
    ...noTemplate,
  ])}
    FROM market.auctions l ${withCollection} JOIN market.tokens y USING (token_symbol)
    WHERE l.auction_id = ANY($1::bigint[])`,
}

const BUYOFFERS = {
  name: 'buyoffer-records',
  text: `SELECT ${packRows([
    'l.buyoffer_id',
    jsonMembers({
      buyoffer_id: quoted('l.buyoffer_id'),
      ...common,
      price,
      memo: jsonText('l.memo'),
      decline_memo: jsonText('l.decline_memo'),
      state: 'l.state',
    }),
    ...shared,
    ...noTemplate,
  ])}
    FROM market.buyoffers l ${withCollection} JOIN market.tokens y USING (token_symbol)
    WHERE l.buyoffer_id = ANY($1::bigint[])`,
}

const TEMPLATE_BUYOFFERS = {
  name: 'template-buyoffer-records',
  text: `SELECT ${packRows([
    'l.buyoffer_id',
    jsonMembers({ buyoffer_id: quoted('l.buyoffer_id'), ...common, price, state: 'l.state' }),
    'l.asset_id',
    ...shared.slice(1),
    't.template_id',
    TEMPLATE_VERSION,
  ])}
    FROM market.template_buyoffers l ${withCollection} JOIN market.tokens y USING (token_symbol)
      JOIN assets.templates t ON t.template_id = l.template_id
    WHERE l.buyoffer_id = ANY($1::bigint[])`,
}

/** Texts; the assets are a comma list, the last two are empty but for template buy offers. */
type ListingRow = [
  id: string,
  own: string,
  assets: string,
  collection: string,
  collectionVersion: string,
  fee: string,
  template: string,
  templateVersion: string,
]

/** How listings of a kind are read. */
interface ListingRecords {
  readonly name: string
  readonly text: string
}

/** Sales, in the order of the page; one that is not known, or still waits for its offer, is left out. */
export function renderSales(session: Session, setup: MarketSetup, page: KeyPage): Promise<Json[]> {
  return renderListings(session, setup, SALES, page)
}

/** Sales as lists show them: with their place in the answer. */
export async function renderListedSales(
  session: Session,
  setup: MarketSetup,
  page: KeyPage,
): Promise<Json[]> {
  const sales = await listingMembers(session, setup, SALES, page)
  return sales.map((members, index) => [members, `,"ordinality":"${index + 1}"}`])
}

/** Auctions, in the order of the page. */
export function renderAuctions(session: Session, setup: MarketSetup, page: KeyPage): Promise<Json[]> {
  return renderListings(session, setup, AUCTIONS, page, [setup.clock()])
}

/** Buy offers, in the order of the page. */
export function renderBuyoffers(session: Session, setup: MarketSetup, page: KeyPage): Promise<Json[]> {
  return renderListings(session, setup, BUYOFFERS, page)
}

/** Template buy offers, in the order of the page. */
export function renderTemplateBuyoffers(
  session: Session,
  setup: MarketSetup,
  page: KeyPage,
): Promise<Json[]> {
  return renderListings(session, setup, TEMPLATE_BUYOFFERS, page)
}

async function renderListings(
  session: Session,
  setup: MarketSetup,
  of: ListingRecords,
  page: KeyPage,
  more: readonly SqlValue[] = [],
): Promise<Json[]> {
  const listings = await listingMembers(session, setup, of, page, more)
  return listings.map((members) => [members, '}'])
}

/** The records without their closing braces. */
function listingMembers(
  session: Session,
  setup: MarketSetup,
  of: ListingRecords,
  page: KeyPage,
  more: readonly SqlValue[] = [],
): Promise<Json[]> {
  return renderUnchanged(setup.assets, of.name, page, (ids) => readMembers(session, setup, of, ids, more))
}

/** Listings by id; one that is not known is missing, and so is a sale that still waits for its offer. */
export type ListingReader = (
  session: Session,
  setup: MarketSetup,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, Json>>

/** Reads sales. */
export const readSales: ListingReader = (session, setup, ids) => readListings(session, setup, SALES, ids)

/** Reads auctions. */
export const readAuctions: ListingReader = (session, setup, ids) =>
  readListings(session, setup, AUCTIONS, ids, [setup.clock()])

/** Reads buy offers. */
export const readBuyoffers: ListingReader = (session, setup, ids) =>
  readListings(session, setup, BUYOFFERS, ids)

/** Reads template buy offers. */
export const readTemplateBuyoffers: ListingReader = (session, setup, ids) =>
  readListings(session, setup, TEMPLATE_BUYOFFERS, ids)

async function readListings(
  session: Session,
  setup: MarketSetup,
  of: ListingRecords,
  ids: readonly string[],
  more: readonly SqlValue[] = [],
): Promise<ReadonlyMap<string, Json>> {
  const listings = await readMembers(session, setup, of, ids, more)
  return new Map([...listings].map(([id, members]) => [id, [members, '}']]))
}

/** The records without their closing braces, by id. */
async function readMembers(
  session: Session,
  setup: MarketSetup,
  { name, text }: ListingRecords,
  ids: readonly string[],
  more: readonly SqlValue[],
): Promise<Map<string, Json>> {
  const rows = await queryPacked<ListingRow>(session, { name, text, values: [ids, ...more] })
  const { parts, contract } = setup.assets
  const collections = await parts.lightCollections.load(session, new Map(rows.map((row) => [row[3], row[4]])))
  const asking = rows.filter((row) => row[6] !== '').map((row) => [row[6], row[7]] as const)
  const templates = await parts.templates.load(session, new Map(asking))
  const render = containedAssetRenderer(setup)
  const assets = await render(session, contract, parts, distinctIds(rows.map((row) => row[2])))
  const contracts = `"market_contract":"${setup.contract}","assets_contract":"${contract}"`
  const records = new Map<string, Json>()
  for (const [id, own, contained, collectionName, , fee, templateId] of rows) {
    const collection = collections.get(collectionName)
    // Gone between two statements: a fork has just undone it.
    if (!collection) continue
    const template = templates.get(templateId)
    const asked = template ? `,"template":{${template[0]!},"data":${template[1]!}}` : ''
    const nested = [
      '"assets":',
      assetArray(contained, assets),
      `,"collection":{${collection[1]!},${fee}}${asked}`,
    ]
    records.set(id, [`{${contracts},${own},`, ...nested])
  }
  return records
}
