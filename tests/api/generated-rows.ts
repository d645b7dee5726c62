import type pg from 'pg'
import { nameToInt64 } from '../../services/core/antelope/index.ts'

/** How many rows of each kind to generate. */
export interface GeneratedRows {
  readonly collections: number
  readonly schemasPerCollection: number
  readonly templates: number
  readonly assets: number
  readonly owners: number
  readonly offers: number
  readonly transfers: number
}

/** Collection with logs; also the name of its schema. */
const LOGGED_COLLECTION = 'col13'

/** Builds an Antelope name. Digits 0 and 6 to 9 are not allowed in names and are replaced. */
const name = (prefix: string, number: string): string =>
  `'${prefix}' || translate(${number}::text, '06789', 'abcde')`

/**
 * Fills the tables of the assets family with evenly distributed artificial rows, including counters and logs. Asset
 * ids start at 2^40, blocks are half a second apart, each transfer is a transaction of its own.
 */
export async function generateRows(client: pg.ClientBase, rows: GeneratedRows): Promise<void> {
  await client.query(`
    INSERT INTO assets.config (contract, version, collection_format) VALUES ('atomicassets', '2.0.0', '[]');
    INSERT INTO assets.tokens VALUES ('WAX', 8, 'eosio.token');
    INSERT INTO assets.collections (collection_name, created_at_time, market_fee, created_at_block, allow_notify,
        author, authorized_accounts, notify_accounts, data)
      SELECT ${name('col', 'n')}, 1600000000000 + n * 500, 0.05, n, true, ${name('author', 'n')},
        ARRAY[${name('author', 'n')}], '{}', jsonb_build_object('name', 'Collection ' || n, 'img', 'Qm' || md5(n::text))
      FROM generate_series(1, ${rows.collections}) n;
    INSERT INTO assets.schemas (collection_name, schema_name, created_at_time, created_at_block, format)
      SELECT ${name('col', 'n')}, ${name('schema', 's')}, 1600000100000 + n * 500, 200 + n,
        '[{"name":"name","type":"string"},{"name":"img","type":"image"},{"name":"rarity","type":"string"},{"name":"level","type":"uint16"}]'
      FROM generate_series(1, ${rows.collections}) n, generate_series(1, ${rows.schemasPerCollection}) s;
    INSERT INTO assets.templates (template_id, created_at_block, created_at_time, max_supply, issued_supply,
        transferable, burnable, collection_name, schema_name, immutable_data)
      SELECT n, 1000 + n, 1600000500000 + n * 500, 0, ${Math.ceil(rows.assets / rows.templates)}, n % 50 <> 0, n % 40 <> 0,
        ${name('col', `(1 + n % ${rows.collections})`)},
        ${name('schema', `(1 + n / ${rows.collections} % ${rows.schemasPerCollection})`)},
        jsonb_build_object('name', 'Template number ' || n, 'img', 'Qm' || md5(n::text), 'level', n % 60,
          'rarity', (ARRAY['common', 'rare', 'epic', 'legendary'])[1 + n % 4])
      FROM generate_series(1, ${rows.templates}) n`)
  await client.query(`
    INSERT INTO assets.assets (asset_id, minted_at_time, transferred_at_time, updated_at_time, minted_at_block,
        transferred_at_block, updated_at_block, minted_seq, template_id, template_mint, collection_name, schema_name, owner,
        burned_by_account, burned_at_block, burned_at_time, ram_payer, minter, initial_receiver, immutable_data, mutable_data)
      SELECT 1099511627776 + n, 1610000000000 + n / 4 * 500, 1610000000000 + (n::bigint * 7919 % ${rows.assets}) * 500,
        1610000000000 + (n::bigint * 104729 % ${rows.assets}) * 500, 10000 + n / 4, 10000 + n, 10000 + n,
        n * 10 + 5, t.template_id, 1 + n / ${rows.templates}, t.collection_name, t.schema_name,
        CASE WHEN n % 20 <> 0 THEN ${name('owner', `(n * 31 % ${rows.owners})`)} END,
        CASE WHEN n % 20 = 0 THEN 'burner' END, CASE WHEN n % 20 = 0 THEN 10000 + n END,
        CASE WHEN n % 20 = 0 THEN 1610000000000 + n * 500 END, 'payer', t.collection_name, 'receiver', NULL,
        CASE WHEN n % 10 = 0 THEN jsonb_build_object('durability', n % 100) END
      FROM generate_series(0, ${rows.assets - 1}) n JOIN assets.templates t ON t.template_id = 1 + n % ${rows.templates};
    INSERT INTO assets.accounts SELECT owner, count(*) FROM assets.assets WHERE owner IS NOT NULL GROUP BY 1;
    INSERT INTO assets.collection_counts SELECT collection_name, count(*), count(*) FILTER (WHERE owner IS NULL) FROM assets.assets GROUP BY 1;
    INSERT INTO assets.schema_counts SELECT collection_name, schema_name, count(*), count(*) FILTER (WHERE owner IS NULL) FROM assets.assets GROUP BY 1, 2;
    INSERT INTO assets.template_counts SELECT template_id, count(*), count(*) FILTER (WHERE owner IS NULL) FROM assets.assets GROUP BY 1;
    INSERT INTO assets.offers (offer_id, created_at_time, updated_at_time, created_at_block, updated_at_block, state,
        sender, recipient, memo, sender_asset_ids, recipient_asset_ids)
      SELECT n, 1620000000000 + n * 500, 1620000000000 + n * 700, 500000 + n, 500000 + n, n % 6,
        ${name('owner', `(n % ${rows.owners})`)}, ${name('owner', `((n + 1) % ${rows.owners})`)}, 'offer ' || n,
        ARRAY[1099511627776 + n % ${rows.assets}], '{}'
      FROM generate_series(1, ${rows.offers}) n;
    INSERT INTO assets.open_offer_assets SELECT a, offer_id FROM assets.offers, unnest(sender_asset_ids) a WHERE state < 2;
    SELECT chain.ensure_partition('assets.blocks', 1), chain.ensure_partition('assets.transfers', 1);
    INSERT INTO assets.blocks (first_seq, block_time, block_num, tx_offsets, txids)
      SELECT b * 40, 1610000000000 + b * 500, 10000 + b, ARRAY[0, 10, 20, 30],
        sha256((b * 4)::text::bytea) || sha256((b * 4 + 1)::text::bytea) || sha256((b * 4 + 2)::text::bytea) || sha256((b * 4 + 3)::text::bytea)
      FROM generate_series(0, ${rows.transfers} / 4) b;
    INSERT INTO assets.transfers (transfer_id, sender, recipient, collection_name, memo, asset_ids)
      SELECT n * 10 + 3, ${name('owner', `(n * 17 % ${rows.owners})`)}, ${name('owner', `(n * 13 % ${rows.owners})`)},
        a.collection_name, 'transfer ' || n, ARRAY[a.asset_id]
      FROM generate_series(1, ${rows.transfers}) n
        JOIN assets.assets a ON a.asset_id = 1099511627776 + (n * 7 % ${rows.assets});
    SELECT chain.ensure_partition('assets.logs', 1);
    INSERT INTO assets.logs (seq, subject, action, data)
      SELECT n * 10 + 7, k.subject, k.action, k.data FROM generate_series(1, ${rows.transfers}) n
        CROSS JOIN LATERAL (VALUES
          (0, n / 8, 10, NULL), (1, n / 8 % ${rows.templates}, 51, '{"authorized_editor":"payer"}'::jsonb),
          (2, ${nameToInt64(LOGGED_COLLECTION)}, 27, '{"market_fee":0.05}'),
          (3, ${nameToInt64(LOGGED_COLLECTION)}, 41, '{"authorized_editor":"payer","schema_name":"schema2"}')
        ) AS k(turn, subject, action, data) WHERE k.turn = n % 8;
    INSERT INTO assets.logs (seq, subject, action, packed)
      SELECT n * 10 + 7, 1099511627776 + n % ${rows.assets}, 4, '\\x0000'
      FROM generate_series(1, ${rows.transfers}) n WHERE n % 8 > 3`)
}
