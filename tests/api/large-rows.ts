import type pg from 'pg'
import { nameToInt64 } from '../../services/core/antelope/index.ts'

/** Numbers and sizes of the generated rows with large attributes. */
export interface LargeRows {
  readonly templates: number
  /** Size of each template's attributes, bytes. */
  readonly templateBytes: number
  readonly assets: number
  /** Size of the attributes of each asset itself, without those of its template, bytes; 0 for none. */
  readonly assetBytes: number
  /** Number of offers; each contains all assets. */
  readonly offers: number
  /** Whether the attributes of the assets are highly compressible. */
  readonly isCompressible?: boolean
}

/** Id of the first asset. */
const FIRST_LARGE_ASSET = 2n ** 41n

/**
 * SQL of incompressible text.
 * @param seed SQL expression of a number.
 */
const noise = (seed: string, bytes: number): string =>
  `(SELECT left(string_agg(md5(concat(${seed}, '/', u.i)), ''), ${bytes}) FROM generate_series(1, ${Math.ceil(bytes / 32)}) u(i))`

/** Adds a collection with large templates and assets, and offers of all these assets. */
export async function addLargeRows(client: pg.ClientBase, rows: LargeRows): Promise<void> {
  const { templates, templateBytes, assets, assetBytes, offers, isCompressible } = rows
  const text = isCompressible ? `repeat('a', ${assetBytes})` : noise('n', assetBytes)
  const own = assetBytes === 0 ? 'NULL' : `jsonb_build_object('text', ${text})`
  await client.query(`
    INSERT INTO assets.config (contract, version, collection_format) VALUES ('atomicassets', '2.0.0', '[]') ON CONFLICT DO NOTHING;
    INSERT INTO assets.collections (collection_name, created_at_time, market_fee, created_at_block, allow_notify,
        author, authorized_accounts, notify_accounts, data)
      VALUES ('largecol', 1600000000000, 0.05, 1, true, 'mallory', '{mallory}', '{}', '{"name":"Large"}');
    INSERT INTO assets.schemas (collection_name, schema_name, created_at_time, created_at_block, format)
      VALUES ('largecol', 'large', 1600000000000, 1, '[{"name":"name","type":"string"},{"name":"text","type":"string"}]');
    INSERT INTO assets.templates (template_id, created_at_block, created_at_time, max_supply, issued_supply,
        transferable, burnable, collection_name, schema_name, immutable_data)
      SELECT 900000 + n, 1, 1600000000000, 0, ${assets}, true, true, 'largecol', 'large',
        jsonb_build_object('name', 'Large ' || n, 'img', ${noise('n', templateBytes)})
      FROM generate_series(1, ${templates}) n;
    INSERT INTO assets.assets (asset_id, minted_at_time, transferred_at_time, updated_at_time, minted_at_block,
        transferred_at_block, updated_at_block, minted_seq, template_id, template_mint, collection_name, schema_name, owner,
        ram_payer, minter, initial_receiver, immutable_data)
      SELECT ${FIRST_LARGE_ASSET} + n, 1610000000000, 1610000000000, 1610000000000, 10, 10, 10, n * 10 + 5,
        900001 + n % ${templates}, 1 + n, 'largecol', 'large', 'mallory', 'mallory', 'mallory', 'mallory', ${own}
      FROM generate_series(0, ${assets - 1}) n;
    INSERT INTO assets.offers (offer_id, created_at_time, updated_at_time, created_at_block, updated_at_block, state,
        sender, recipient, memo, sender_asset_ids, recipient_asset_ids, collection_names)
      SELECT 900000 + n, 1620000000000 + n, 1620000000000 + n, 100, 100, 0, 'mallory', 'victim', 'look', i.ids, '{}', '{largecol}'
      FROM generate_series(1, ${offers}) n,
        (SELECT array_agg(${FIRST_LARGE_ASSET} + a) AS ids FROM generate_series(0, ${assets - 1}) a) i;
    ANALYZE`)
}

/** Adds logs of changed collection data. Each log has `bytes` bytes of data. */
export async function addLargeLogs(client: pg.ClientBase, count: number, bytes: number): Promise<void> {
  await client.query(`
    SELECT chain.ensure_partition('assets.logs', 1);
    INSERT INTO assets.logs (seq, subject, action, data)
      SELECT n, ${nameToInt64('largecol')}, (SELECT action FROM assets.log_actions WHERE name = 'setcoldata'),
        jsonb_build_object('text', ${noise('n', bytes)})
      FROM generate_series(1, ${count}) n`)
}
