import type pg from 'pg'
import { formatAmount } from '../../services/core/antelope/index.ts'
import { readTable, rowsOf } from './chain-tables.ts'

type Row = Record<string, unknown>

const ids = (values: unknown) => (values as unknown[]).map(String)
const byId = (key: string) => (row: Row) => String(row[key]).padStart(20, '0')

/** What the chain says that the market and oracle contracts hold after a recording: table name to sorted rows. */
export function chainMarketState(recording: string): Record<string, unknown[]> {
  const market = (table: string, key: (row: Row) => string) =>
    rowsOf(readTable(recording, table, 'atomicmarket'), key).map(({ scope: _, ...row }) => row)
  const oracle = (table: string) => readTable(recording, table, 'delphioracle')
  const [config] = market('config', () => '')
  const { supported_tokens: tokens, supported_symbol_pairs: pairs, ...settings } = config ?? {}
  const numbers = (row: Row, keys: readonly string[]) =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => [key, keys.includes(key) ? Number(value) : value]),
    )
  return {
    config: config
      ? [
          numbers(
            {
              ...settings,
              sale_counter: String(config.sale_counter),
              auction_counter: String(config.auction_counter),
            },
            ['minimum_bid_increase', 'maker_market_fee', 'taker_market_fee'],
          ),
        ]
      : [],
    tokens: (tokens ?? []) as unknown[],
    symbol_pairs: ((pairs ?? []) as Row[]).map((pair) => ({
      ...pair,
      invert_delphi_pair: Boolean(pair.invert_delphi_pair),
    })),
    counters: market('counters', (row) => String(row.counter_name)).map((row) => ({
      ...row,
      counter_value: String(row.counter_value),
    })),
    marketplaces: market('marketplaces', (row) => String(row.marketplace_name)),
    balances: market('balances', (row) => String(row.owner)).map((row) => ({
      ...row,
      quantities: [...(row.quantities as string[])].sort(),
    })),
    bonusfees: market('bonusfees', byId('bonusfee_id')).map((row) => ({
      ...row,
      bonusfee_id: String(row.bonusfee_id),
      fee: Number(row.fee),
      counter_ranges: (row.counter_ranges as Row[])
        .map((range) => ({
          counter_name: range.counter_name,
          start_id: String(range.start_id),
          end_id: String(range.end_id),
        }))
        .sort((a, b) => (String(a.counter_name) < String(b.counter_name) ? -1 : 1)),
    })),
    sales: market('sales', byId('sale_id')).map((row) => ({
      ...row,
      sale_id: String(row.sale_id),
      offer_id: String(row.offer_id),
      asset_ids: ids(row.asset_ids),
      collection_fee: Number(row.collection_fee),
    })),
    auctions: market('auctions', byId('auction_id')).map((row) => ({
      ...row,
      auction_id: String(row.auction_id),
      asset_ids: ids(row.asset_ids),
      assets_transferred: Boolean(row.assets_transferred),
      claimed_by_seller: Boolean(row.claimed_by_seller),
      claimed_by_buyer: Boolean(row.claimed_by_buyer),
      collection_fee: Number(row.collection_fee),
    })),
    buyoffers: market('buyoffers', byId('buyoffer_id')).map((row) => ({
      ...row,
      buyoffer_id: String(row.buyoffer_id),
      asset_ids: ids(row.asset_ids),
      collection_fee: Number(row.collection_fee),
    })),
    tbuyoffers: market('tbuyoffers', byId('buyoffer_id')).map((row) => ({
      ...row,
      buyoffer_id: String(row.buyoffer_id),
      template_id: String(row.template_id),
      collection_fee: Number(row.collection_fee),
    })),
    pairs: rowsOf(oracle('pairs'), (row) => String(row.name)).map(({ scope: _, ...row }) => ({
      ...row,
      active: Boolean(row.active),
      bounty_awarded: Boolean(row.bounty_awarded),
      bounty_edited_by_custodians: Boolean(row.bounty_edited_by_custodians),
    })),
    datapoints: rowsOf(
      oracle('datapoints'),
      (row) => `${String(row.scope)}/${String(row.id).padStart(10, '0')}`,
    ).map(({ timestamp, scope, ...row }) => ({
      pair_name: scope,
      id: String(row.id),
      owner: row.owner,
      value: String(row.value),
      median: String(row.median),
      time: String(Date.parse(`${String(timestamp)}Z`)),
    })),
  }
}

const token = (symbol: string) =>
  `(SELECT t.token_precision FROM market.tokens t WHERE t.token_symbol = ${symbol})`

/** The same from the database. */
export async function databaseMarketState(client: pg.Client): Promise<Record<string, unknown[]>> {
  const select = async (text: string): Promise<Row[]> => {
    const { rows } = await client.query<{ row: Row }>(`SELECT to_jsonb(r) AS row FROM (${text}) r`)
    return rows.map(({ row }) => row)
  }
  const priced = (rows: readonly Row[], field: string): Row[] =>
    rows.map(({ amount, symbol, precision, ...row }) => ({
      ...row,
      [field]: formatAmount(BigInt(amount as string), precision as number, symbol as string),
    }))
  const amounts = await select(`
    SELECT owner, amount::text, token_symbol AS symbol, ${token('b.token_symbol')} AS precision FROM market.balances b`)
  const owners = [...new Set(amounts.map((row) => String(row.owner)))].sort()
  return {
    config: await select(`
      SELECT version, sale_counter::text, auction_counter::text, minimum_bid_increase, minimum_auction_duration, maximum_auction_duration,
        auction_reset_duration, maker_market_fee, taker_market_fee, assets_contract AS atomicassets_account, oracle_contract AS delphioracle_account
      FROM market.config`),
    tokens: await select(
      `SELECT token_contract, token_precision || ',' || token_symbol AS token_symbol FROM market.tokens ORDER BY place`,
    ),
    symbol_pairs: await select(`
      SELECT listing_precision || ',' || listing_symbol AS listing_symbol, settlement_precision || ',' || settlement_symbol AS settlement_symbol,
        pair_name AS delphi_pair_name, invert_pair AS invert_delphi_pair FROM market.symbol_pairs ORDER BY place`),
    counters: await select('SELECT counter_name, counter_value::text FROM market.counters ORDER BY 1'),
    marketplaces: await select('SELECT marketplace_name, creator FROM market.marketplaces ORDER BY 1'),
    balances: owners.map((owner) => ({
      owner,
      quantities: priced(
        amounts.filter((row) => row.owner === owner),
        'quantity',
      )
        .map((row) => row.quantity as string)
        .sort(),
    })),
    bonusfees: await select(`
      SELECT bonusfee_id::text, fee_recipient, fee, fee_name, (
        SELECT jsonb_agg(jsonb_build_object('counter_name', counter_name, 'start_id', start_id::text, 'end_id', coalesce(end_id, 18446744073709551615)::text) ORDER BY counter_name)
        FROM market.bonus_fee_ranges r WHERE r.bonusfee_id = f.bonusfee_id) AS counter_ranges
      FROM market.bonus_fees f ORDER BY f.bonusfee_id`),
    sales: priced(
      await select(`
        SELECT sale_id::text, seller, asset_ids::text[] AS asset_ids, coalesce(offer_id, -1)::text AS offer_id, listing_price::text AS amount,
          listing_symbol AS symbol, listing_precision AS precision, settlement_precision || ',' || settlement_symbol AS settlement_symbol,
          maker_marketplace, collection_name, collection_fee FROM market.sales s WHERE state IN (0, 1, 4) ORDER BY s.sale_id`),
      'listing_price',
    ),
    auctions: priced(
      await select(`
        SELECT auction_id::text, seller, asset_ids::text[] AS asset_ids, end_time, state = 1 AS assets_transferred, price::text AS amount,
          token_symbol AS symbol, ${token('a.token_symbol')} AS precision, coalesce(buyer, '') AS current_bidder, claimed_by_seller,
          claimed_by_buyer, maker_marketplace, coalesce(taker_marketplace, '') AS taker_marketplace, collection_name, collection_fee
        FROM market.auctions a WHERE state < 2 AND NOT (claimed_by_buyer AND claimed_by_seller) ORDER BY a.auction_id`),
      'current_bid',
    ),
    buyoffers: priced(
      await select(`
        SELECT buyoffer_id::text, buyer, seller AS recipient, price::text AS amount, token_symbol AS symbol,
          ${token('b.token_symbol')} AS precision, asset_ids::text[] AS asset_ids, memo, maker_marketplace, collection_name, collection_fee
        FROM market.buyoffers b WHERE state IN (0, 4) ORDER BY b.buyoffer_id`),
      'price',
    ),
    tbuyoffers: priced(
      await select(`
        SELECT buyoffer_id::text, buyer, price::text AS amount, token_symbol AS symbol, ${token('b.token_symbol')} AS precision,
          template_id::text, maker_marketplace, collection_name, collection_fee
        FROM market.template_buyoffers b WHERE state = 0 ORDER BY b.buyoffer_id`),
      'price',
    ),
    pairs: await select(`
      SELECT active, bounty_awarded, bounty_edited_by_custodians, proposer, pair_name AS name, bounty_amount, approving_custodians,
        approving_oracles, base_precision || ',' || base_symbol AS base_symbol, base_type, base_contract,
        quote_precision || ',' || quote_symbol AS quote_symbol, quote_type, quote_contract, median_precision AS quoted_precision
      FROM oracle.pairs ORDER BY pair_name`),
    datapoints: await select(`
      SELECT pair_name, id::text, owner, value::text, median::text, point_time::text AS time FROM oracle.datapoints d ORDER BY pair_name, d.id`),
  }
}
