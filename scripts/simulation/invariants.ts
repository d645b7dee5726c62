import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { Invariant } from './invariant.ts'
import { findDerivedViolations } from '../../services/core/derived/index.ts'
import type { readerNames } from './readers.ts'

/** Name of the reader that indexes assets and market. */
const READER: (typeof readerNames)[0] = 'simulated'

const invariants: readonly Invariant[] = [
  {
    rule: 'the collections of an offer are the collections of its assets',
    violations: `
      SELECT concat_ws(' ', o.offer_id, o.collection_names) FROM assets.offers o WHERE o.collection_names IS DISTINCT FROM
        coalesce((SELECT array_agg(DISTINCT a.collection_name) FROM assets.assets a
          WHERE a.asset_id = ANY(o.sender_asset_ids || o.recipient_asset_ids)), '{}')`,
  },
  {
    rule: 'the mint numbers of a template are 1, 2, 3, … in the order of the asset ids, up to the issued supply',
    violations: `
      SELECT concat_ws(' ', asset_id, template_id, template_mint, number, issued_supply) FROM (
        SELECT a.asset_id, template_id, a.template_mint, t.issued_supply,
          row_number() OVER (PARTITION BY template_id ORDER BY a.asset_id) AS number,
          count(*) OVER (PARTITION BY template_id) AS supply
        FROM assets.assets a JOIN assets.templates t USING (template_id)) n
      WHERE template_mint IS DISTINCT FROM number OR supply <> issued_supply`,
  },
  {
    rule: 'an asset without a template has no mint number, and the template of an asset exists',
    violations: `
      SELECT asset_id::text FROM assets.assets a
      WHERE template_id IS NULL AND template_mint IS NOT NULL
        OR template_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM assets.templates t WHERE t.template_id = a.template_id)`,
  },
  {
    rule: 'offer states are 0, 1, 3, 4 or 5',
    violations:
      "SELECT concat_ws(' ', offer_id, state) FROM assets.offers WHERE state NOT IN (0, 1, 3, 4, 5)",
  },
  {
    rule: 'every transfer, log and mint has a transaction, and every transaction begins with a transfer, log or mint',
    violations: `
      SELECT concat_ws(' ', 'without transaction', seq) FROM (SELECT seq FROM assets.logs UNION ALL SELECT transfer_id FROM assets.transfers
        UNION ALL SELECT minted_seq FROM assets.assets WHERE minted_seq IS NOT NULL) e
      WHERE NOT EXISTS (SELECT 1 FROM assets.transactions t WHERE t.first_seq <= e.seq)
      UNION ALL SELECT concat_ws(' ', 'without event', first_seq) FROM assets.transactions t
      WHERE NOT EXISTS (SELECT 1 FROM assets.logs WHERE seq = t.first_seq)
        AND NOT EXISTS (SELECT 1 FROM assets.assets WHERE minted_seq = t.first_seq)
        AND NOT EXISTS (SELECT 1 FROM assets.transfers WHERE transfer_id = t.first_seq)`,
  },
  {
    rule: 'no row of the stored state is newer than the newest stored block',
    violations: `
      SELECT concat_ws(' ', account, table_name, scope, primary_key, since_block) FROM state.rows
      WHERE since_block > (SELECT max(block_num) FROM state.blocks)`,
  },
  {
    rule: 'a link has a claimer and a signature if, and only if, the link is claimed',
    violations: `
      SELECT concat_ws(' ', link_id, state) FROM tools.links
      WHERE (state = 3) <> (claimer IS NOT NULL) OR (claimer IS NULL) <> (claimer_signature IS NULL)`,
  },
  {
    rule: 'the blocks of transactions ascend with the sequences, up to the position of the reader',
    violations: `
      SELECT concat_ws(' ', first_seq, block_num) FROM (
        SELECT first_seq, block_num, lag(block_num) OVER (ORDER BY first_seq) AS before FROM assets.transactions) t
      WHERE before > block_num OR block_num > (SELECT block_num FROM chain.readers WHERE name = '${READER}')`,
  },
  {
    rule: 'no asset, offer, ABI or code is newer than the position of the reader',
    violations: `
      SELECT concat_ws(' ', 'asset', asset_id) FROM assets.assets, chain.readers r
      WHERE r.name = '${READER}' AND greatest(minted_at_block, transferred_at_block, updated_at_block, burned_at_block) > r.block_num
      UNION ALL SELECT concat_ws(' ', 'offer', offer_id) FROM assets.offers, chain.readers r
      WHERE r.name = '${READER}' AND greatest(created_at_block, updated_at_block) > r.block_num
      UNION ALL SELECT concat_ws(' ', 'ABI of', account) FROM chain.abis a WHERE a.block_num > (SELECT max(block_num) FROM chain.readers)
      UNION ALL SELECT concat_ws(' ', 'code of', account) FROM chain.code_accounts WHERE since_block > (SELECT max(block_num) FROM chain.readers)`,
  },
  {
    rule: 'the id counters of the contract are above the ids of all assets, templates and offers',
    violations: `
      SELECT concat_ws(' ', asset_counter, template_counter, offer_counter) FROM assets.config
      WHERE asset_counter <= (SELECT max(asset_id) FROM assets.assets)
        OR template_counter <= (SELECT max(template_id) FROM assets.templates)
        OR offer_counter <= (SELECT max(offer_id) FROM assets.offers)`,
  },
  {
    rule: 'the reversible blocks have no gap, and the last one is the position of the reader',
    violations: `
      SELECT concat_ws(' ', r.name, r.block_num, b.first, b.last, b.count) FROM chain.readers r
      LEFT JOIN (SELECT reader, min(block_num) AS first, max(block_num) AS last, count(*) AS count
                 FROM chain.reversible_blocks GROUP BY 1) b ON b.reader = r.name
      LEFT JOIN chain.reversible_blocks p ON p.reader = r.name AND p.block_num = r.block_num
      WHERE b.last IS DISTINCT FROM r.block_num OR b.count IS DISTINCT FROM b.last - b.first + 1
        OR (p.block_id, p.block_time) IS DISTINCT FROM (r.block_id, r.block_time)`,
  },
  {
    rule: 'every log, bid and royalty payout of the market has a transaction id',
    violations: `
      SELECT e.seq::text FROM (SELECT seq FROM market.logs UNION ALL SELECT seq FROM market.bids UNION ALL SELECT seq FROM market.royalty_payouts) e
      LEFT JOIN LATERAL market.origin_of(e.seq) o ON true WHERE length(o.txid) IS DISTINCT FROM 32`,
  },
  {
    rule: 'no sale or trade is newer than the position of the reader',
    violations: `
      SELECT concat_ws(' ', 'sale', sale_id) FROM market.sales, chain.readers r WHERE r.name = '${READER}' AND updated_at_block > r.block_num
      UNION ALL SELECT concat_ws(' ', 'trade', kind, listing_id) FROM market.trades, chain.readers r WHERE r.name = '${READER}' AND trade_time > r.block_time`,
  },
  {
    rule: 'the price and the buyer of an auction are those of the last bid',
    violations: `
      SELECT concat_ws(' ', a.auction_id, a.price, a.buyer, b.amount, b.account) FROM market.auctions a
      LEFT JOIN LATERAL (SELECT amount, account FROM market.bids b WHERE b.auction_id = a.auction_id ORDER BY seq DESC LIMIT 1) b ON true
      WHERE (a.price, a.buyer) IS DISTINCT FROM (coalesce(b.amount, a.starting_price), b.account)`,
  },
]

/** Undo rows belong to reversible blocks above the oldest one, which is the lowest target of a rollback. */
const JOURNAL_RULE = 'the undo journal has only rows of blocks that can be undone'

/**
 * Checks the rules that hold after every commit, whatever faults came before.
 *
 * @returns rule and row of each violation; empty if there are none.
 */
export async function findViolations(address: DatabaseAddress): Promise<string[]> {
  const client = await connectDatabase(address, { applicationName: 'test invariants' })
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { rows: tables } = await client.query<{ name: string }>(
      "SELECT 'undo.' || relname AS name FROM pg_class WHERE relnamespace = 'undo'::regnamespace AND relkind = 'r'",
    )
    // All undo tables in one query: most are empty, and a query per table would cost more.
    const journals = {
      rule: JOURNAL_RULE,
      violations: `
        SELECT concat_ws(' ', j.name, j.undo_block)
        FROM (SELECT min(block_num) AS first, max(block_num) AS last FROM chain.reversible_blocks) b,
          (${tables.map(({ name }) => `SELECT '${name}' AS name, undo_block FROM ${name}`).join(' UNION ALL ')}) j
        WHERE j.undo_block > b.last OR j.undo_block <= b.first`,
    }
    const found = (await findDerivedViolations(client, 5)).flatMap(({ rule, violations }) =>
      violations.map((text) => `${rule}: ${text}`),
    )
    for (const { rule, violations } of [...invariants, journals]) {
      const { rows } = await client.query<{ text: string }>(
        `SELECT v.text FROM (${violations}) v(text) LIMIT 5`,
      )
      found.push(...rows.map(({ text }) => `${rule}: ${text}`))
    }
    return found
  } finally {
    await client.end()
  }
}
