/**
 * Statements that recompute the counter tables of the assets family from the counted rows, by table. The
 * columns have the order of the table.
 */
export const assetsCounters: Readonly<Record<string, string>> = {
  'assets.accounts': `SELECT owner AS account, count(*) AS assets FROM assets.assets WHERE owner IS NOT NULL GROUP BY 1`,
  'assets.burners': `SELECT burned_by_account AS account, count(*) AS assets FROM assets.assets
    WHERE burned_by_account IS NOT NULL GROUP BY 1`,
  'assets.collection_accounts': `SELECT collection_name, owner AS account, count(*) AS assets FROM assets.assets
    WHERE owner IS NOT NULL GROUP BY 1, 2`,
  'assets.collection_counts': `SELECT collection_name, count(*) AS minted, count(*) FILTER (WHERE owner IS NULL) AS burned
    FROM assets.assets GROUP BY 1`,
  'assets.schema_counts': `SELECT collection_name, schema_name, count(*) AS minted,
    count(*) FILTER (WHERE owner IS NULL) AS burned FROM assets.assets GROUP BY 1, 2`,
  'assets.template_counts': `SELECT template_id, count(*) AS minted, count(*) FILTER (WHERE owner IS NULL) AS burned
    FROM assets.assets WHERE template_id IS NOT NULL GROUP BY 1`,
  'assets.transfer_counts': `SELECT collection_name, count(*) AS transfers FROM assets.transfers GROUP BY 1`,
}
