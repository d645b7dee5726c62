import { allMarketListings, modelTables } from '../model/tables/index.ts'
import { knownFromFirst } from './id-rules.ts'
import type { DerivedRule } from './rule.ts'

/**
 * Tables that store the block and the time of events: name of the table, and the prefixes of its column pairs
 * `…_at_time` and `…_at_block`, first event first.
 */
const dated = modelTables.flatMap(({ name, columns }) => {
  const names = Object.keys(columns)
    .filter((column) => column.endsWith('_at_block'))
    .map((column) => column.slice(0, -'_at_block'.length))
  return names.length === 0 ? [] : [[name, names] as const]
})

const eventFamilies = ['assets', 'market', 'tools'] as const

const readerOf = (table: string): string =>
  `(SELECT reader FROM chain.sources WHERE family = '${table.split('.')[0]!}')`

/**
 * Statement that returns the block numbers in the rows of a reader, each with the time of the block. The number is
 * 0 in rows whose block is unknown.
 */
const datedBlocks = [
  ...eventFamilies.map(
    (family) => `SELECT ${readerOf(family)} AS reader, block_num, block_time FROM ${family}.blocks`,
  ),
  ...dated.flatMap(([table, names]) =>
    names.map(
      (name) =>
        `SELECT ${readerOf(table)}, ${name}_at_block, ${name}_at_time FROM ${table} WHERE ${name}_at_block > 0`,
    ),
  ),
  'SELECT name, block_num, block_time FROM chain.readers WHERE block_num > 0',
  'SELECT reader, block_num, block_time FROM chain.reversible_blocks',
].join(' UNION ')

/** Kinds of listing with columns that are null in some states. */
const unsetListings = allMarketListings.flatMap(({ unset, ...listing }) =>
  unset === undefined ? [] : [{ ...listing, unset }],
)

/**
 * Part of a statement that finds listings of one kind. In each listing found, a column has a value although the column
 * must be null in the listing's state.
 */
function setTooEarly({ table, one, unset }: (typeof unsetListings)[number]): string {
  const isSet = unset.columns.map((column) => `${column} IS NOT NULL`).join(' OR ')
  return `UNION ALL SELECT concat_ws(' ', '${one}', ${table.key[0]!}) FROM ${table.name}
        WHERE state IN (${unset.states.join(', ')}) AND (${isSet})`
}

/** SQL condition that each asset that was ever minted has a row. */
const EVERY_ASSET_IS_KNOWN = `${knownFromFirst('assets')}
        AND NOT EXISTS (SELECT 1 FROM chain.imports, unnest(accepted_gaps) gap WHERE gap LIKE 'assets.assets %')`

/** Statements that return the sequence number of every stored event of a family. */
const events: Readonly<Record<(typeof eventFamilies)[number], string>> = {
  assets: `SELECT seq FROM assets.logs UNION ALL SELECT transfer_id FROM assets.transfers
    UNION ALL SELECT minted_seq FROM assets.assets WHERE minted_seq IS NOT NULL`,
  market: `SELECT seq FROM market.logs UNION ALL SELECT seq FROM market.bids UNION ALL SELECT seq FROM market.royalty_payouts`,
  tools: 'SELECT seq FROM tools.logs',
}

/**
 * Creates the rule that the first event of each transaction of a family is stored. The market family has no such rule:
 * a transaction whose only event is an empty list of payouts stores no event.
 */
function transactionsOf(family: 'assets' | 'tools'): DerivedRule {
  return {
    rule: `the first event of each transaction in ${family}.blocks is stored`,
    covers: {},
    violations: `
      WITH events AS (${events[family]}), transactions AS (
        SELECT b.block_num, b.first_seq + o AS seq FROM ${family}.blocks b, unnest(b.tx_offsets) o)
      SELECT concat_ws(' ', 'block', block_num, 'lacks event', seq) FROM transactions t
      WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.seq)`,
  }
}

function eventsOf(family: (typeof eventFamilies)[number]): DerivedRule {
  return {
    rule: `no stored event of ${family} is older than the first row of ${family}.blocks`,
    covers: {},
    violations: `
      SELECT concat_ws(' ', 'event', seq, 'is before the first block') FROM (${events[family]}) e
      WHERE seq < (SELECT coalesce(min(first_seq), 9223372036854775807) FROM ${family}.blocks)`,
  }
}

/**
 * Statements over rows that repeat the block number or the block time of one of their events. Result columns: text of
 * the row, sequence number of the event, block number or block time.
 */
const placedEvents = {
  assets: {
    rule: 'minted_at_block of each asset is the number of the block that contains the mint event',
    column: 'block_num',
    rows: `SELECT concat_ws(' ', 'asset', asset_id, 'was minted') AS text, minted_seq AS seq, minted_at_block AS named
      FROM assets.assets WHERE minted_seq IS NOT NULL`,
  },
  market: {
    rule: 'paid_at_time of each royalty payout is the time of the block that contains the payout event',
    column: 'block_time',
    rows: `SELECT concat_ws(' ', 'payout', seq, payout_index, 'was paid') AS text, seq, paid_at_time AS named FROM market.royalty_payouts`,
  },
} as const

/**
 * Creates the rule for events with a block number or time of their own. The block of an event is the last block that
 * begins at or before the event's global sequence. `max` finds this block, because numbers and times of blocks ascend.
 */
function placesOf(family: keyof typeof placedEvents): DerivedRule {
  const { rule, column, rows } = placedEvents[family]
  return {
    rule,
    covers: {},
    violations: `
      SELECT concat_ws(' ', text, 'in', named, 'by an event of', place) FROM (
        SELECT text, named, max(start) OVER (ORDER BY seq, named NULLS FIRST) AS place FROM (
          SELECT NULL AS text, first_seq AS seq, NULL AS named, ${column} AS start FROM ${family}.blocks
          UNION ALL SELECT text, seq, named, NULL FROM (${rows}) r) e) p
      WHERE named IS DISTINCT FROM place AND text IS NOT NULL`,
  }
}

/**
 * Statements that return rows whose blocks contradict each other: a later event of the row has a lower block number
 * than the row's first event.
 */
const changedRows = dated
  .filter(([, names]) => names.length > 1)
  .map(
    ([table, [first, ...later]]) =>
      `SELECT '${table} ' || t::text FROM ${table} t WHERE ${first!}_at_block > 0
        AND least(${later.map((name) => `${name}_at_block`).join(', ')}) < ${first!}_at_block`,
  )
  .join(' UNION ALL ')

/**
 * Rules that compare historical rows with each other. The chain no longer holds these rows, so a rule can
 * only find contradictions.
 */
export const historyRules: readonly DerivedRule[] = [
  {
    rule: 'each block of a reader has one time, a higher block has a later time, and no block is above the position of the reader',
    covers: {},
    // Compares blocks reader by reader, because two readers may be on different branches.
    violations: `
      SELECT concat_ws(' ', 'block', block_num, 'at', block_time, 'after block', before_num, 'at', before_time) FROM (
        SELECT reader, block_num, block_time, lag(block_num) OVER w AS before_num, lag(block_time) OVER w AS before_time
        FROM (${datedBlocks}) d WINDOW w AS (PARTITION BY reader ORDER BY block_num, block_time)) o
      WHERE block_num = before_num OR block_time <= before_time
        OR block_num > (SELECT r.block_num FROM chain.readers r WHERE r.name = o.reader)`,
  },
  {
    rule: 'the position of a reader is its newest block in chain.reversible_blocks',
    covers: {},
    violations: `
      SELECT concat_ws(' ', 'reader', r.name, 'at block', r.block_num, encode(r.block_id, 'hex'), 'but', n.block_num, encode(n.block_id, 'hex'))
      FROM chain.readers r CROSS JOIN LATERAL (
        SELECT b.block_num, b.block_id FROM chain.reversible_blocks b WHERE b.reader = r.name ORDER BY b.block_num DESC LIMIT 1) n
      WHERE (r.block_num, r.block_id) <> (n.block_num, n.block_id)`,
  },
  ...eventFamilies.map(eventsOf),
  placesOf('assets'),
  placesOf('market'),
  { rule: 'no row was changed before its creation', covers: {}, violations: changedRows },
  transactionsOf('assets'),
  transactionsOf('tools'),
  {
    rule: 'the sender of each transfer of an asset received the asset in the previous transfer, and the owner is the last recipient',
    covers: {
      'assets.transfers': ['sender', 'recipient', 'asset_ids'],
      'assets.assets': ['initial_receiver'],
    },
    // For some block ranges the configuration does not store transfers. `span` counts the ends of these ranges before a
    // transfer: the number is odd inside such a range. The sender of a transfer is compared with the previous recipient
    // only if both transfers have the same even number.
    violations: `
      WITH left_out AS (
        SELECT blocks FROM chain.sources s, unnest(s.transfers_left_out) blocks WHERE s.family = 'assets'),
      ends AS (
        SELECT (SELECT min(first_seq) FROM assets.blocks WHERE block_num >= e.block_num) AS seq
        FROM left_out, LATERAL (VALUES (lower(blocks)), (upper(blocks))) e(block_num)),
      spans AS (SELECT t.*, (SELECT count(*) FROM ends e WHERE e.seq <= t.transfer_id) AS span FROM assets.transfers t),
      moves AS (
        SELECT asset, t.transfer_id, t.sender, t.recipient, lag(t.recipient) OVER w AS holder,
          span % 2 = 0 AND coalesce(lag(span) OVER w, 0) = span AS follows, lead(t.transfer_id) OVER w IS NULL AS is_last
        FROM spans t, unnest(t.asset_ids) asset WINDOW w AS (PARTITION BY asset ORDER BY t.transfer_id))
      SELECT concat_ws(' ', 'asset', asset_id, 'transfer', transfer_id, 'from', sender, 'held by', coalesce(holder, initial_receiver)) FROM (
        SELECT a.asset_id, a.initial_receiver, m.* FROM assets.assets a JOIN moves m ON m.asset = a.asset_id WHERE a.minted_at_block > 0) k
      WHERE follows AND sender <> coalesce(holder, initial_receiver)
      UNION ALL
      SELECT concat_ws(' ', 'asset', a.asset_id, 'last received by', coalesce(m.recipient, a.initial_receiver), 'is with', coalesce(a.owner, a.burned_by_account))
      FROM assets.assets a LEFT JOIN moves m ON m.asset = a.asset_id AND m.is_last
      WHERE a.minted_at_block > 0 AND coalesce(m.recipient, a.initial_receiver) <> coalesce(a.owner, a.burned_by_account)
        AND EXISTS (SELECT 1 FROM assets.transfers)
        AND NOT EXISTS (SELECT 1 FROM left_out WHERE blocks @> a.transferred_at_block)
      UNION ALL
      SELECT concat_ws(' ', 'asset', a.asset_id, 'was transferred in', a.transferred_at_block, 'but not by transfer', m.transfer_id)
      FROM moves m JOIN assets.assets a ON a.asset_id = m.asset LEFT JOIN (
        SELECT block_num, first_seq, lead(first_seq) OVER (ORDER BY first_seq) AS next_seq FROM assets.blocks) b ON b.block_num = a.transferred_at_block
      WHERE m.is_last AND a.transferred_at_block > 0 AND (b.block_num IS NULL OR m.transfer_id < b.first_seq OR m.transfer_id >= b.next_seq)
        AND NOT EXISTS (SELECT 1 FROM left_out WHERE blocks @> a.transferred_at_block)
      UNION ALL SELECT concat_ws(' ', 'asset', asset_id, 'has a log of its mint, and no receiver of it') FROM assets.assets
      WHERE minted_seq IS NOT NULL AND initial_receiver IS NULL`,
  },
  {
    rule: 'the row of a transfer names the collection of the transferred assets',
    covers: { 'assets.transfers': ['collection_name'] },
    violations: `
      SELECT concat_ws(' ', 'transfer', t.transfer_id, t.collection_name, 'asset', a.asset_id, a.collection_name)
      FROM assets.transfers t, unnest(t.asset_ids) asset JOIN assets.assets a ON a.asset_id = asset
      WHERE a.collection_name <> t.collection_name
      UNION ALL SELECT concat_ws(' ', 'transfer', t.transfer_id, 'asset', asset, 'has no row')
      FROM assets.transfers t, unnest(t.asset_ids) asset
      WHERE NOT EXISTS (SELECT 1 FROM assets.assets a WHERE a.asset_id = asset) AND ${EVERY_ASSET_IS_KNOWN}`,
  },
  {
    rule: 'an offer lists each asset once, and the collections of its assets',
    covers: { 'assets.offers': ['collection_names'] },
    violations: `
      SELECT concat_ws(' ', 'offer', o.offer_id, o.collection_names) FROM assets.offers o CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(DISTINCT a.collection_name ORDER BY a.collection_name) FILTER (WHERE a.asset_id IS NOT NULL), '{}') AS names,
          count(a.asset_id) AS known, count(DISTINCT asset) AS assets, count(*) AS listed
        FROM unnest(o.sender_asset_ids || o.recipient_asset_ids) asset LEFT JOIN assets.assets a ON a.asset_id = asset) f
      WHERE f.known = f.listed AND o.collection_names IS DISTINCT FROM f.names OR f.assets <> f.listed
        OR f.known < f.listed AND ${EVERY_ASSET_IS_KNOWN}`,
  },
  {
    rule: 'columns about a burn, deletion, purchase or claim are null until the event happens',
    covers: {
      'assets.assets': ['burned_at_time', 'burned_at_block', 'burned_by_account'],
      'assets.templates': ['deleted_at_time', 'deleted_at_block'],
      ...Object.fromEntries(unsetListings.map(({ table, unset }) => [table.name, unset.columns])),
      'tools.links': ['claimer', 'claimer_signature'],
    },
    violations: `
      SELECT concat_ws(' ', 'asset', asset_id) FROM assets.assets
        WHERE (owner IS NULL) <> (burned_at_time IS NOT NULL) OR (owner IS NULL) <> (burned_at_block IS NOT NULL) OR owner IS NOT NULL AND burned_by_account IS NOT NULL
      UNION ALL SELECT concat_ws(' ', 'template', template_id) FROM assets.templates WHERE (deleted_at_time IS NULL) <> (deleted_at_block IS NULL)
      UNION ALL SELECT concat_ws(' ', 'auction', auction_id) FROM market.auctions WHERE (buyer IS NULL) <> (taker_marketplace IS NULL)
      ${unsetListings.map(setTooEarly).join('\n      ')}
      UNION ALL SELECT concat_ws(' ', 'link', link_id) FROM tools.links
        WHERE state IN (0, 1) AND (claimer IS NOT NULL OR claimer_signature IS NOT NULL)`,
  },
  {
    rule: 'the bids of an auction ascend, and its price is the last bid',
    covers: {},
    violations: `
      WITH bids AS (
        SELECT b.*, lag(amount) OVER w AS before, lead(seq) OVER w IS NULL AS is_last
        FROM market.bids b WINDOW w AS (PARTITION BY auction_id ORDER BY seq))
      SELECT concat_ws(' ', 'auction', auction_id, 'bid', seq, amount, 'after', before) FROM bids WHERE amount <= before
      UNION ALL SELECT concat_ws(' ', 'auction', a.auction_id, a.price, a.buyer, 'last bid', b.amount, b.account)
      FROM market.auctions a LEFT JOIN bids b ON b.auction_id = a.auction_id AND b.is_last
      WHERE a.created_at_block > 0 AND (a.buyer IS NOT NULL OR b.account IS NOT NULL) AND (a.price, a.buyer) IS DISTINCT FROM (b.amount, b.account)
      UNION ALL SELECT concat_ws(' ', 'auction', a.auction_id, 'started at', a.starting_price, 'bid', b.seq, b.amount)
      FROM market.auctions a JOIN bids b ON b.auction_id = a.auction_id AND b.amount < a.starting_price
      UNION ALL SELECT concat_ws(' ', 'auction', auction_id, 'started at', starting_price, 'but has', price) FROM market.auctions
      WHERE created_at_block > 0 AND (starting_price IS NULL OR starting_price > price OR buyer IS NULL AND starting_price <> price)
      UNION ALL SELECT concat_ws(' ', 'bid', seq, 'of no auction', auction_id) FROM market.bids b
      WHERE NOT EXISTS (SELECT 1 FROM market.auctions a WHERE a.auction_id = b.auction_id)`,
  },
  {
    // A burned asset retains its tokens. A database that was imported from chain state lacks older log entries, so an
    // asset may have more tokens than its log entries.
    rule: 'an asset has at least as many backed tokens as its stored log entries added',
    covers: {},
    violations: `
      WITH backed AS (
        SELECT subject AS asset_id, split_part(token, ' ', 2) AS token_symbol,
          sum(replace(split_part(token, ' ', 1), '.', '')::numeric) AS amount
        FROM assets.logs CROSS JOIN LATERAL (SELECT data ->> 'backed_token' AS token) d
        WHERE action = (SELECT action FROM assets.log_actions WHERE name = 'logbackasset') GROUP BY 1, 2)
      SELECT concat_ws(' ', 'asset', asset_id, 'was backed with', b.amount, token_symbol, 'but has', coalesce(t.amount, 0))
      FROM backed b LEFT JOIN assets.backed_tokens t USING (asset_id, token_symbol) WHERE coalesce(t.amount, 0) < b.amount`,
  },
  {
    // The contract accepts the offer of a sale in the transaction that purchases the sale, so both rows change in the
    // same block. The sale and its offer may list the same assets in different order, because the contract ignores the
    // order.
    rule: 'a sale and its offer have the same seller and assets, and a sale is sold in the block that accepts its offer',
    covers: {},
    violations: `
      SELECT concat_ws(' ', 'sale', s.sale_id, s.state, s.seller, s.updated_at_block, 'offer', o.offer_id, o.state, o.sender, o.recipient, o.updated_at_block)
      FROM market.sales s JOIN assets.offers o USING (offer_id)
      WHERE (s.state = 3) <> (o.state = 3) OR s.state = 3 AND s.updated_at_block <> o.updated_at_block
        OR s.seller <> o.sender OR o.recipient NOT IN (SELECT contract FROM market.config)
        OR NOT (s.asset_ids @> o.sender_asset_ids AND s.asset_ids <@ o.sender_asset_ids)
      UNION ALL SELECT concat_ws(' ', 'sale', sale_id, 'was purchased without an offer') FROM market.sales
      WHERE state = 3 AND offer_id IS NULL`,
  },
  {
    // The database does not store the market fee at the time of the trade. The rule therefore uses the contract's
    // maximum fee, 15 %.
    rule: 'each royalty payout belongs to a trade and to an asset of this trade, and the payouts of a trade are together at most 15 % of its price',
    covers: {},
    violations: `
      SELECT concat_ws(' ', 'payout', p.seq, 'of', p.kind, p.listing_id) FROM market.royalty_payouts p
      LEFT JOIN market.trades t ON (t.kind, t.listing_id) = (p.kind, p.listing_id)
      WHERE p.kind > 0 AND (t.listing_id IS NULL OR (p.token_symbol, p.collection_name) <> (t.token_symbol, t.collection_name))
      UNION ALL SELECT concat_ws(' ', 'payout', p.seq, 'for asset', p.asset_id, p.template_id) FROM market.royalty_payouts p
      LEFT JOIN assets.assets a USING (asset_id)
      WHERE p.asset_id IS NOT NULL AND (p.template_id <> a.template_id OR p.collection_name <> a.collection_name
        OR p.kind > 0 AND NOT EXISTS (SELECT FROM market.listing_assets l
          WHERE (l.asset_id, l.kind, l.listing_id) = (p.asset_id, p.kind, p.listing_id)))
      UNION ALL SELECT concat_ws(' ', 'payouts of', kind, listing_id, sum(amount), 'of', min(price)) FROM market.royalty_payouts p
      JOIN market.trades t USING (kind, listing_id) GROUP BY kind, listing_id HAVING sum(amount) > min(price) * 0.15
      UNION ALL SELECT concat_ws(' ', 'payouts of event', seq, 'are not numbered from 0 without a gap') FROM market.royalty_payouts
      GROUP BY seq HAVING min(payout_index) <> 0 OR max(payout_index) <> count(*) - 1`,
  },
]
