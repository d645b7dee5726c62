import { assetsCounters } from '../../core/database/index.ts'
import { sameRows } from './rule.ts'
import type { DerivedRule } from './rule.ts'

/** A counter against what it counts. */
function counts(rule: string, table: string, columns: string): DerivedRule {
  return sameRows(rule, table, columns, assetsCounters[table]!)
}

/** What follows from assets, offers, transfers and links. */
export const assetsRules: readonly DerivedRule[] = [
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
  counts('accounts are the owners of assets', 'assets.accounts', 'account, assets'),
  counts(
    'accounts of collections are the owners of their assets',
    'assets.collection_accounts',
    'collection_name, account, assets',
  ),
  counts('burners are those who burned assets', 'assets.burners', 'account, assets'),
  counts('transfers are counted by collection', 'assets.transfer_counts', 'collection_name, transfers'),
  {
    rule: 'mint numbers of a template ascend with the ids of its assets, up to its supply',
    violations: `
      SELECT concat_ws(' ', a.template_id, a.asset_id, a.template_mint) FROM (
        SELECT template_id, asset_id, template_mint, lag(template_mint) OVER (PARTITION BY template_id ORDER BY asset_id) AS before
        FROM assets.assets WHERE template_mint IS NOT NULL) a JOIN assets.templates t USING (template_id)
      WHERE a.template_mint > t.issued_supply OR a.template_mint <= a.before`,
  },
  {
    rule: 'an open offer is invalid exactly while an asset is not with its side',
    violations: `
      SELECT concat_ws(' ', o.offer_id, o.state) FROM assets.offers o WHERE o.state IN (0, 1) AND (o.state = 1) <> EXISTS (
        SELECT 1 FROM assets.assets a WHERE a.asset_id = ANY(o.sender_asset_ids) AND a.owner IS DISTINCT FROM o.sender
          OR a.asset_id = ANY(o.recipient_asset_ids) AND a.owner IS DISTINCT FROM o.recipient)`,
    correction: `
      UPDATE assets.offers o SET state = 1 - state WHERE o.state IN (0, 1) AND (o.state = 1) <> EXISTS (
        SELECT 1 FROM assets.assets a WHERE a.asset_id = ANY(o.sender_asset_ids) AND a.owner IS DISTINCT FROM o.sender
          OR a.asset_id = ANY(o.recipient_asset_ids) AND a.owner IS DISTINCT FROM o.recipient)`,
  },
  sameRows(
    'offers are counted by state',
    'assets.offer_counts',
    'state, offers',
    'SELECT state, count(*) FROM assets.offers GROUP BY 1',
  ),
  sameRows(
    'open_offer_assets are the assets of open offers',
    'assets.open_offer_assets',
    'offer_id, asset_id',
    `SELECT DISTINCT offer_id, unnest(sender_asset_ids || recipient_asset_ids) FROM assets.offers WHERE state IN (0, 1)`,
  ),
  sameRows(
    'link_counts counts links by state',
    'tools.link_counts',
    'state, links',
    'SELECT state, count(*) FROM tools.links GROUP BY 1',
  ),
  {
    rule: 'a link has the collections of its assets',
    violations: `
      SELECT l.link_id::text FROM tools.links l WHERE collection_names <> ARRAY(
        SELECT DISTINCT a.collection_name FROM assets.assets a WHERE a.asset_id = ANY(l.asset_ids) ORDER BY 1)
        OR has_unknown_assets <> (SELECT count(*) < cardinality(l.asset_ids) FROM assets.assets a WHERE a.asset_id = ANY(l.asset_ids))`,
  },
]
