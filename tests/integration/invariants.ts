import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { Invariant } from './invariant.ts'
import { marketInvariants } from './market-invariants.ts'

/** Counts kept by the writer against counts made now. `key` are the columns that both sides group by. */
function countsMatch(table: string, key: readonly string[], scope = ''): Invariant {
  const columns = key.join(', ')
  return {
    rule: `${table} counts assets`,
    violations: `
      SELECT concat_ws(' ', ${columns}, k.minted, k.burned, 'but', c.minted, c.burned) FROM ${table} k
      FULL JOIN (SELECT ${columns}, count(*) AS minted, count(*) FILTER (WHERE owner IS NULL) AS burned
                 FROM assets.assets ${scope} GROUP BY ${columns}) c USING (${columns})
      WHERE (k.minted, k.burned) IS DISTINCT FROM (c.minted, c.burned)`,
  }
}

const invariants: readonly Invariant[] = [
  ...marketInvariants,
  countsMatch('assets.collection_counts', ['collection_name']),
  countsMatch('assets.schema_counts', ['collection_name', 'schema_name']),
  countsMatch('assets.template_counts', ['template_id'], 'WHERE template_id IS NOT NULL'),
  {
    rule: 'accounts are the owners of assets',
    violations: `
      SELECT concat_ws(' ', account, k.assets, 'but', c.assets) FROM assets.accounts k
      FULL JOIN (SELECT owner AS account, count(*) AS assets FROM assets.assets WHERE owner IS NOT NULL GROUP BY 1) c
        USING (account)
      WHERE k.assets IS DISTINCT FROM c.assets`,
  },
  {
    rule: 'accounts of collections are the owners of their assets',
    violations: `
      SELECT concat_ws(' ', collection_name, account, k.assets, 'but', c.assets) FROM assets.collection_accounts k
      FULL JOIN (SELECT collection_name, owner AS account, count(*) AS assets FROM assets.assets
                 WHERE owner IS NOT NULL GROUP BY 1, 2) c USING (collection_name, account)
      WHERE k.assets IS DISTINCT FROM c.assets`,
  },
  {
    rule: 'burners are those who burned assets',
    violations: `
      SELECT concat_ws(' ', account, k.assets, 'but', c.assets) FROM assets.burners k
      FULL JOIN (SELECT burned_by_account AS account, count(*) AS assets FROM assets.assets
                 WHERE burned_by_account IS NOT NULL GROUP BY 1) c USING (account)
      WHERE k.assets IS DISTINCT FROM c.assets`,
  },
  {
    rule: 'transfers are counted by collection',
    violations: `
      SELECT concat_ws(' ', collection_name, k.transfers, 'but', c.transfers) FROM assets.transfer_counts k
      FULL JOIN (SELECT collection_name, count(*) AS transfers FROM assets.transfers GROUP BY 1) c USING (collection_name)
      WHERE k.transfers IS DISTINCT FROM c.transfers`,
  },
  {
    rule: 'offers are counted by state',
    violations: `
      SELECT concat_ws(' ', state, k.offers, 'but', c.offers) FROM assets.offer_counts k
      FULL JOIN (SELECT state, count(*) AS offers FROM assets.offers GROUP BY 1) c USING (state)
      WHERE k.offers IS DISTINCT FROM c.offers`,
  },
  {
    rule: 'offers name the collections of their assets',
    violations: `
      SELECT concat_ws(' ', o.offer_id, o.collection_names) FROM assets.offers o WHERE o.collection_names IS DISTINCT FROM
        coalesce((SELECT array_agg(DISTINCT a.collection_name) FROM assets.assets a
          WHERE a.asset_id = ANY(o.sender_asset_ids || o.recipient_asset_ids)), '{}')`,
  },
  {
    rule: 'mint numbers of a template run from 1 with the asset ids, up to its supply',
    violations: `
      SELECT concat_ws(' ', asset_id, template_id, template_mint, number, issued_supply) FROM (
        SELECT a.asset_id, template_id, a.template_mint, t.issued_supply,
          row_number() OVER (PARTITION BY template_id ORDER BY a.asset_id) AS number,
          count(*) OVER (PARTITION BY template_id) AS supply
        FROM assets.assets a JOIN assets.templates t USING (template_id)) n
      WHERE template_mint IS DISTINCT FROM number OR supply <> issued_supply`,
  },
  {
    rule: 'assets without a template have no mint number, those with one have a template',
    violations: `
      SELECT asset_id::text FROM assets.assets a
      WHERE template_id IS NULL AND template_mint IS NOT NULL
        OR template_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM assets.templates t WHERE t.template_id = a.template_id)`,
  },
  {
    rule: 'an open offer is invalid exactly while an asset is not with its side',
    violations: `
      SELECT concat_ws(' ', o.offer_id, o.state) FROM assets.offers o WHERE o.state IN (0, 1) AND (o.state = 1) <> EXISTS (
        SELECT 1 FROM assets.assets a WHERE a.asset_id = ANY(o.sender_asset_ids) AND a.owner IS DISTINCT FROM o.sender
          OR a.asset_id = ANY(o.recipient_asset_ids) AND a.owner IS DISTINCT FROM o.recipient)`,
  },
  {
    rule: 'offer states are 0, 1, 3, 4 or 5',
    violations:
      "SELECT concat_ws(' ', offer_id, state) FROM assets.offers WHERE state NOT IN (0, 1, 3, 4, 5)",
  },
  {
    rule: 'open_offer_assets are the assets of open offers',
    violations: `
      SELECT concat_ws(' ', offer_id, asset_id) FROM (
        SELECT offer_id, unnest(sender_asset_ids || recipient_asset_ids) AS asset_id FROM assets.offers WHERE state IN (0, 1)) o
      FULL JOIN (SELECT offer_id, asset_id, true AS kept FROM assets.open_offer_assets) k USING (offer_id, asset_id)
      WHERE k.kept IS NULL OR NOT EXISTS (
        SELECT 1 FROM assets.offers o WHERE o.offer_id = k.offer_id AND o.state IN (0, 1)
          AND k.asset_id = ANY(o.sender_asset_ids || o.recipient_asset_ids))`,
  },
  {
    rule: 'every transfer and log has a transaction, and every transaction begins with one of them',
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
    rule: 'link_counts counts links by state',
    violations: `
      SELECT concat_ws(' ', state, k.links, 'but', c.links) FROM tools.link_counts k
      FULL JOIN (SELECT state, count(*) AS links FROM tools.links GROUP BY 1) c USING (state)
      WHERE k.links IS DISTINCT FROM c.links`,
  },
  {
    rule: 'a link has the collections of its assets',
    violations: `
      SELECT l.link_id::text FROM tools.links l WHERE has_unknown_assets OR collection_names <> ARRAY(
        SELECT DISTINCT a.collection_name FROM assets.assets a WHERE a.asset_id = ANY(l.asset_ids) ORDER BY 1)`,
  },
  {
    rule: 'a link is claimed by somebody, with a signature, exactly when its state says so',
    violations: `
      SELECT concat_ws(' ', link_id, state) FROM tools.links
      WHERE (state = 3) <> (claimer IS NOT NULL) OR (claimer IS NULL) <> (claimer_signature IS NULL)`,
  },
  {
    rule: 'transactions follow each other as their blocks do, none beyond the position',
    violations: `
      SELECT concat_ws(' ', first_seq, block_num) FROM (
        SELECT first_seq, block_num, lag(block_num) OVER (ORDER BY first_seq) AS before FROM assets.transactions) t
      WHERE before > block_num OR block_num > (SELECT max(block_num) FROM chain.readers)`,
  },
  {
    rule: 'nothing on the chain happened after the position',
    violations: `
      SELECT concat_ws(' ', 'asset', asset_id) FROM assets.assets, chain.readers r
      WHERE greatest(minted_at_block, transferred_at_block, updated_at_block, burned_at_block) > r.block_num
      UNION ALL SELECT concat_ws(' ', 'offer', offer_id) FROM assets.offers, chain.readers r
      WHERE greatest(created_at_block, updated_at_block) > r.block_num
      UNION ALL SELECT concat_ws(' ', 'ABI of', account) FROM chain.abis a, chain.readers r WHERE a.block_num > r.block_num
      UNION ALL SELECT concat_ws(' ', 'code of', account) FROM chain.code_accounts, chain.readers r WHERE since_block > r.block_num`,
  },
  {
    rule: 'ids are below the counters of the contract',
    violations: `
      SELECT concat_ws(' ', asset_counter, template_counter, offer_counter) FROM assets.config
      WHERE asset_counter <= (SELECT max(asset_id) FROM assets.assets)
        OR template_counter <= (SELECT max(template_id) FROM assets.templates)
        OR offer_counter <= (SELECT max(offer_id) FROM assets.offers)`,
  },
  {
    rule: 'the position is the last block that can be gone back to, and these run without a hole',
    violations: `
      SELECT concat_ws(' ', r.name, r.block_num, b.first, b.last, b.count) FROM chain.readers r
      LEFT JOIN (SELECT reader, min(block_num) AS first, max(block_num) AS last, count(*) AS count
                 FROM chain.reversible_blocks GROUP BY 1) b ON b.reader = r.name
      LEFT JOIN chain.reversible_blocks p ON p.reader = r.name AND p.block_num = r.block_num
      WHERE b.last IS DISTINCT FROM r.block_num OR b.count IS DISTINCT FROM b.last - b.first + 1
        OR (p.block_id, p.block_time) IS DISTINCT FROM (r.block_id, r.block_time)`,
  },
]

/** The journal of every table keeps images of blocks that can be undone, and of no others. */
const journalRule = 'the undo journal is of blocks that can be undone'

/**
 * Checks what must hold after every commit, whatever happened before.
 *
 * @returns rule and row of each violation; empty when all is well.
 */
export async function findViolations(address: DatabaseAddress): Promise<string[]> {
  const client = await connectDatabase(address, { applicationName: 'test invariants' })
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { rows: twins } = await client.query<{ name: string }>(
      "SELECT 'undo.' || relname AS name FROM pg_class WHERE relnamespace = 'undo'::regnamespace AND relkind = 'r'",
    )
    const journals = twins.map(({ name }) => ({
      rule: journalRule,
      violations: `
        SELECT concat_ws(' ', '${name}', undo_block) FROM ${name}
        WHERE undo_block > (SELECT max(block_num) FROM chain.reversible_blocks)
          OR undo_block <= (SELECT min(block_num) FROM chain.reversible_blocks)`,
    }))
    const found: string[] = []
    for (const { rule, violations } of [...invariants, ...journals]) {
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
