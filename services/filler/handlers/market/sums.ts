import { allMarketListings } from '../../../core/model/tables/index.ts'
import type { Aggregate, DerivedStep, RowSink, UnitClock } from '../../rows/operations.ts'
import { RECENT_MS, templatePrices, templateToken } from './template-prices.ts'
import { recheckParties } from './marketplace-accounts.ts'
import { DAY_MS, priceDays, tokenDay } from './price-days.ts'
import { kinds, tables } from './tables.ts'
import type { MarketplaceAccountRow, PartyStatsRow, SchemaStatsRow, TradeRow } from './tables.ts'

/** Listing columns by which listings are counted. */
interface CountedListing {
  state: number
  collection_name: string
}

function countListing(kind: number, row: CountedListing | null, sign: bigint, sink: RowSink): void {
  if (row)
    sink.add(tables.listingCounts, {
      kind,
      state: row.state,
      collection_name: row.collection_name,
      listings: sign,
    })
}

function listingCounts(kind: number, table: { readonly name: string }): Aggregate<CountedListing> {
  return {
    kind: 'aggregate',
    name: `counts of ${table.name}`,
    table,
    columns: ['state', 'collection_name'],
    apply: (before, after, sink) => {
      if (before?.state === after?.state) return
      countListing(kind, before, -1n, sink)
      countListing(kind, after, 1n, sink)
    },
  }
}

/** Counts of listings by stored state; `saleSums` counts the sales. */
export const counts: readonly DerivedStep[] = [
  ...allMarketListings
    .filter(({ kind }) => kind !== kinds.sale)
    .map(({ kind, table }) => listingCounts(kind, table)),
]

/** Sale columns that determine the counters of sales and the floor prices of templates. */
interface CountedSale extends CountedListing {
  price: bigint | null
  template_id: number | null
  created_at_time: bigint
  updated_at_time: bigint
  settlement_symbol: string
  schema_name: string | null
  /** Schemas of the assets of a sale of several assets; null if the sale has a single asset. */
  schema_names: readonly string[] | null
}

/** Counts sales by state and schema. Schedules a recheck when the floor price of a template may have changed. */
export const saleSums: Aggregate<CountedSale> = {
  kind: 'aggregate',
  name: 'sums of sales',
  table: tables.sales,
  columns: [
    'state',
    'collection_name',
    'price',
    'template_id',
    'created_at_time',
    'updated_at_time',
    'settlement_symbol',
    'schema_name',
    'schema_names',
  ],
  apply: (before, after, sink, clock) => {
    if (before?.state === after?.state && before?.price === after?.price) return
    addSale(before, -1n, sink)
    addSale(after, 1n, sink)
    recheckFloor(before, after, clock, sink)
  },
}

function addSale(row: CountedSale | null, sign: bigint, sink: RowSink): void {
  if (!row) return
  countListing(kinds.sale, row, sign, sink)
  const isOpen = row.state === 1 || row.state === 4
  const sold = row.state === 3 ? row.price : null
  if (!isOpen && sold === null) return
  for (const schema_name of row.schema_names ?? (row.schema_name === null ? [] : [row.schema_name])) {
    const { settlement_symbol: token_symbol, collection_name } = row
    const counts =
      sold === null ? { ...nothing, listings: sign } : { ...nothing, sales: sign, sale_volume: sign * sold }
    const day = dayOf(sold === null ? row.created_at_time : row.updated_at_time)
    addSchema({ token_symbol, collection_name, schema_name, ...counts }, day, sink)
  }
}

/** Zero for every counter of a schema. */
const nothing = { trades: 0n, volume: 0n, sales: 0n, sale_volume: 0n, listings: 0n }

function addSchema(counts: SchemaStatsRow, day: number, sink: RowSink): void {
  sink.add(tables.schemaStats, counts)
  sink.add(tables.schemaDays, { ...counts, day })
}

/** Converts a time in ms to days since 1970, UTC. */
function dayOf(time: bigint): number {
  return Math.floor(Number(time) / DAY_MS)
}

/**
 * Rechecks the floor price of a listed sale's template. Only a sale that has been listed for RECENT_MS caps the
 * suggested price; the derivation `clock` finds the sales that reach this age.
 */
function recheckFloor(
  before: CountedSale | null,
  after: CountedSale | null,
  { nowMs }: UnitClock,
  sink: RowSink,
): void {
  for (const row of [before, after]) {
    if (row?.state !== 1 || row.template_id === null) continue
    if (Number(row.updated_at_time) <= nowMs - RECENT_MS)
      sink.recheck(templatePrices, templateToken(row.template_id, row.settlement_symbol))
  }
}

/** Trade columns that the statistics depend on. */
const summed = [
  'trade_time',
  'price',
  'template_id',
  'asset_count',
  'token_symbol',
  'seller',
  'buyer',
  'maker_marketplace',
  'taker_marketplace',
  'collection_name',
  'schema_name',
] as const satisfies readonly (keyof TradeRow)[]

/** Maintains the statistics of trades. */
export const tradeSums: Aggregate<TradeRow> = {
  kind: 'aggregate',
  name: 'sums of trades',
  table: tables.trades,
  columns: summed,
  apply: (before, after, sink, clock) => {
    // Skip updates that leave the summed columns unchanged, such as the claim of an auction.
    if (before && after && summed.every((column) => before[column] === after[column])) return
    for (const [trade, sign] of [
      [before, -1n],
      [after, 1n],
    ] as const) {
      if (!trade) continue
      addTrade(trade, sign, sink)
      recheckParties(trade, sign > 0n, sink)
      recheckDay(trade, clock, sink)
    }
  },
}

/** Rechecks the prices of a past day; prices of the running day are not stored. */
function recheckDay({ trade_time, token_symbol }: TradeRow, { nowMs }: UnitClock, sink: RowSink): void {
  const day = dayOf(trade_time)
  if (day < Math.floor(nowMs / DAY_MS)) sink.recheck(priceDays, tokenDay(token_symbol, day))
}

function addTrade(trade: TradeRow, sign: bigint, sink: RowSink): void {
  const { token_symbol, collection_name, maker_marketplace, taker_marketplace } = trade
  const volume = sign * trade.price
  const isSale = trade.kind === kinds.sale
  const sums = { trades: sign, volume, sales: isSale ? sign : 0n, sale_volume: isSale ? volume : 0n }
  const day = dayOf(trade.trade_time)
  const marketplaces = { maker_marketplace, taker_marketplace }
  sink.add(tables.tradeDays, { token_symbol, day, collection_name, ...marketplaces, ...sums })
  sink.add(tables.marketplaceDays, { token_symbol, day, ...marketplaces, trades: sign, volume })
  sink.add(tables.collectionDays, { token_symbol, collection_name, day, trades: sign, volume })
  sink.add(tables.collectionStats, { token_symbol, collection_name, ...sums })
  const sold = { sells: sign, sell_volume: volume, buys: 0n, buy_volume: 0n }
  const bought = { sells: 0n, sell_volume: 0n, buys: sign, buy_volume: volume }
  addParty(
    { token_symbol, collection_name, account: trade.seller, marketplace: maker_marketplace },
    sold,
    sink,
  )
  addParty(
    { token_symbol, collection_name, account: trade.buyer, marketplace: taker_marketplace },
    bought,
    sink,
  )
  if (trade.template_id !== null && trade.asset_count === 1) addTemplate(trade, sign, sink)
}

function addParty(
  key: Pick<PartyStatsRow, 'token_symbol' | 'collection_name' | 'account' | 'marketplace'>,
  sums: { sells: bigint; sell_volume: bigint; buys: bigint; buy_volume: bigint },
  sink: RowSink,
): void {
  sink.add(tables.accountStats, { token_symbol: key.token_symbol, account: key.account, ...sums })
  sink.add(tables.partyStats, { ...key, ...sums })
}

function addTemplate(trade: TradeRow, sign: bigint, sink: RowSink): void {
  const { token_symbol, price } = trade
  const template_id = trade.template_id!
  sink.add(tables.templatePoints, { template_id, token_symbol, price, trades: sign })
  sink.recheck(templatePrices, templateToken(template_id, token_symbol))
  if (trade.schema_name === null) return
  const { collection_name, schema_name } = trade
  const counts = { ...nothing, trades: sign, volume: sign * price }
  addSchema({ token_symbol, collection_name, schema_name, ...counts }, dayOf(trade.trade_time), sink)
}

/** Sums purchases and sales of each account by marketplace. */
export const marketplaceSums: Aggregate<MarketplaceAccountRow> = {
  kind: 'aggregate',
  name: 'sums of accounts of marketplaces',
  table: tables.marketplaceAccounts,
  columns: ['sells', 'sell_volume', 'buys', 'buy_volume'],
  apply: (before, after, sink) => {
    for (const [row, sign] of [
      [before, -1n],
      [after, 1n],
    ] as const) {
      if (!row) continue
      sink.add(tables.marketplaceStats, {
        token_symbol: row.token_symbol,
        marketplace: row.marketplace,
        sellers: row.sells > 0n ? sign : 0n,
        sell_volume: sign * BigInt(row.sell_volume),
        buyers: row.buys > 0n ? sign : 0n,
        buy_volume: sign * BigInt(row.buy_volume),
      })
    }
  },
}
