import { assetsCounters } from './assets-counters.ts'
import { restingOn, sameRows } from './rule.ts'
import type { DerivedRule } from './rule.ts'

/** Creates the rule that a counter table equals the counts that `assetsCounters` recomputes. */
function counts(rule: string, table: string, columns: string): DerivedRule {
  return sameRows(rule, table, columns, assetsCounters[table]!)
}

/**
 * SQL condition of an offer `o` whose sender or recipient does not own an asset of the offer. One subquery for each
 * side: PostgreSQL reads each by the key of the assets, and one subquery with OR by a scan of all assets for each offer.
 */
const LACKS_AN_ASSET = `EXISTS (SELECT 1 FROM assets.assets a WHERE a.asset_id = ANY(o.sender_asset_ids) AND a.owner IS DISTINCT FROM o.sender)
        OR EXISTS (SELECT 1 FROM assets.assets a WHERE a.asset_id = ANY(o.recipient_asset_ids) AND a.owner IS DISTINCT FROM o.recipient)`

/** Rules of the values derived from assets, offers, transfers and links. */
export const assetsRules: readonly DerivedRule[] = [
  ...restingOn('burned assets', [
    counts(
      'assets.collection_counts counts assets',
      'assets.collection_counts',
      'collection_name, minted, burned',
    ),
    counts(
      'assets.schema_counts counts assets',
      'assets.schema_counts',
      'collection_name, schema_name, minted, burned',
    ),
    counts('assets.template_counts counts assets', 'assets.template_counts', 'template_id, minted, burned'),
  ]),
  counts('assets.accounts counts assets by owner', 'assets.accounts', 'account, assets'),
  counts(
    'collection_accounts counts assets by collection and owner',
    'assets.collection_accounts',
    'collection_name, account, assets',
  ),
  ...restingOn('burned assets', [
    counts('assets.burners counts burned assets by account', 'assets.burners', 'account, assets'),
  ]),
  ...restingOn('transfers', [
    counts(
      'transfer_counts counts transfers by collection',
      'assets.transfer_counts',
      'collection_name, transfers',
    ),
  ]),
  {
    rule: 'mint numbers count the assets of a template in the order of their ids',
    covers: { 'assets.assets': ['template_mint'] },
    violations: `
      SELECT concat_ws(' ', 'template', template_id, 'asset', asset_id, 'is', template_mint, 'not', place) FROM (
        SELECT a.template_id, a.asset_id, a.template_mint, t.issued_supply, lag(a.template_mint) OVER w AS before,
          CASE WHEN t.created_at_block > 0 THEN row_number() OVER w END AS place
        FROM assets.assets a JOIN assets.templates t USING (template_id)
        WHERE a.template_mint IS NOT NULL OR t.created_at_block > 0 WINDOW w AS (PARTITION BY a.template_id ORDER BY a.asset_id)) m
      WHERE template_mint IS DISTINCT FROM coalesce(place, template_mint) OR template_mint > issued_supply OR template_mint <= before
      UNION ALL SELECT concat_ws(' ', 'asset', asset_id, 'has number', template_mint, 'of no template') FROM assets.assets
      WHERE template_id IS NULL AND template_mint IS NOT NULL`,
  },
  {
    rule: 'the issued supply of a template is the number of its assets',
    covers: {},
    violations: `
      SELECT concat_ws(' ', 'template', t.template_id, 'issued', t.issued_supply, 'has', count(a.asset_id)) FROM assets.templates t
      LEFT JOIN assets.assets a USING (template_id) WHERE t.created_at_block > 0
      GROUP BY t.template_id HAVING t.issued_supply <> count(a.asset_id)`,
  },
  {
    rule: 'an open offer is invalid while its sender lacks an offered asset or its recipient lacks a requested asset, and valid otherwise',
    covers: { 'assets.offers': ['state'] },
    violations: `
      SELECT concat_ws(' ', o.offer_id, o.state) FROM assets.offers o WHERE o.state IN (0, 1) AND (o.state = 1) <> (${LACKS_AN_ASSET})`,
    correction: `
      UPDATE assets.offers o SET state = 1 - state WHERE o.state IN (0, 1) AND (o.state = 1) <> (${LACKS_AN_ASSET})`,
  },
  ...restingOn('ended offers', [
    sameRows(
      'offer_counts counts offers by state',
      'assets.offer_counts',
      'state, offers',
      'SELECT state, count(*) FROM assets.offers GROUP BY 1',
    ),
  ]),
  sameRows(
    'open_offer_assets has the assets of each open offer',
    'assets.open_offer_assets',
    'offer_id, asset_id',
    `SELECT DISTINCT offer_id, unnest(sender_asset_ids || recipient_asset_ids) FROM assets.offers WHERE state IN (0, 1)`,
  ),
  ...restingOn('ended links', [
    sameRows(
      'link_counts counts links by state',
      'tools.link_counts',
      'state, links',
      'SELECT state, count(*) FROM tools.links GROUP BY 1',
    ),
  ]),
  {
    rule: 'the row of a claim link names the collections of its assets',
    covers: { 'tools.links': ['collection_names', 'has_unknown_assets'] },
    // If another reader indexes the assets, a link may be indexed before its assets.
    violations: `
      SELECT l.link_id::text FROM tools.links l WHERE (collection_names <> ARRAY(
        SELECT DISTINCT a.collection_name FROM assets.assets a WHERE a.asset_id = ANY(l.asset_ids) ORDER BY 1)
        OR has_unknown_assets <> (SELECT count(*) < cardinality(l.asset_ids) FROM assets.assets a WHERE a.asset_id = ANY(l.asset_ids)))
        AND NOT (has_unknown_assets AND EXISTS (
          SELECT FROM chain.sources s JOIN chain.sources o ON o.reader <> s.reader WHERE s.family = 'tools' AND o.family = 'assets'))`,
  },
]
