/**
 * Measures `import-database`, and COPY alone of the same rows into the same tables with their keys.
 * Usage: node dist/scripts/bench/import.js [copies] [workers]
 *
 * The source database has the rows of the tests' fixture, copies of these rows with other ids (300 copies by default),
 * and the indexes of the replaced system.
 */
import { createDevchain } from '../../services/devchain/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { importDatabase } from '../../services/filler/import/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { copyAlone } from './copy-alone.ts'
import { createBareDatabase, createDatabase } from './databases.ts'
import { restoreOldDump } from './old-dump.ts'
import { assetsContract, marketContracts, readerSettings } from './reader-settings.ts'

const copies = Number(process.argv[2] ?? 300)
const workers = Number(process.argv[3] ?? 2)

const settings = readerSettings({
  ship_prefetch_blocks: 50,
  ship_min_block_confirmation: 10,
  db_group_blocks: 10,
  feed_blocks: 1_000,
  contracts: [assetsContract, ...marketContracts],
})

/**
 * The benchmark imports many copies of each row. Distance between the ids of a row in one copy and in the next copy, by
 * column. Distances are small, because ids on a chain have no holes.
 */
const distances: Readonly<Record<string, number>> = { asset_id: 1_000, offer_id: 100, sale_id: 10 }
/**
 * SQL of the columns of a copied row: ids are shifted and times are earlier in each copy, so that every step of the
 * import has rows.
 */
const id = (column: string, name = column) => `${column} + k.n * ${distances[name] ?? 10_000}`
const earlier = (column: string) => `${column} - k.n * 400000`
const idIn = (field: string) =>
  `CASE WHEN metadata ? '${field}' THEN jsonb_build_object('${field}', (${id(`(metadata->>'${field}')::bigint`, field)})::text) ELSE '{}' END`

/** SQL of the columns that get another value in each copy of a row, by table. */
const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  atomicassets_assets: { asset_id: id('asset_id') },
  atomicassets_mints: { asset_id: id('asset_id') },
  atomicassets_offers: { offer_id: id('offer_id') },
  atomicassets_offers_assets: { offer_id: id('offer_id'), asset_id: id('asset_id') },
  atomicassets_transfers: { transfer_id: id('transfer_id'), created_at_time: earlier('created_at_time') },
  atomicassets_transfers_assets: { transfer_id: id('transfer_id'), asset_id: id('asset_id') },
  atomicmarket_sales: { sale_id: id('sale_id'), offer_id: id('offer_id') },
  contract_traces: {
    global_sequence: id('global_sequence'),
    metadata: `metadata || ${['asset_id', 'offer_id', 'sale_id', 'auction_id', 'buyoffer_id'].map(idIn).join(' || ')}`,
    created_at_time: earlier('created_at_time'),
  },
}

const indexes = [
  'ALTER TABLE atomicassets_assets ADD PRIMARY KEY (contract, asset_id)',
  'CREATE INDEX ON atomicassets_assets (asset_id)',
  'CREATE INDEX ON atomicassets_mints USING brin (asset_id)',
  'ALTER TABLE atomicassets_offers ADD PRIMARY KEY (contract, offer_id)',
  'ALTER TABLE atomicassets_offers_assets ADD PRIMARY KEY (contract, offer_id, asset_id)',
  'ALTER TABLE atomicassets_transfers ADD PRIMARY KEY (contract, transfer_id)',
  'CREATE INDEX ON atomicassets_transfers (created_at_time)',
  'ALTER TABLE atomicassets_transfers_assets ADD PRIMARY KEY (transfer_id, contract, asset_id)',
  'ALTER TABLE atomicmarket_sales ADD PRIMARY KEY (market_contract, sale_id)',
  'CREATE INDEX ON contract_traces USING brin (created_at_time)',
  'CREATE INDEX ON contract_traces USING brin (global_sequence)',
]

async function createOldDatabase(admin: DatabaseAddress): Promise<DatabaseAddress> {
  const address = await createBareDatabase(admin, 'old')
  const client = await connectDatabase(address, { applicationName: 'bench' })
  await restoreOldDump(client)
  for (const [table, changed] of Object.entries(changes)) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [table],
    )
    const list = rows.map(({ name }) => changed[name] ?? `"${name}"`).join(', ')
    await client.query(
      `INSERT INTO ${table} SELECT ${list} FROM ${table}, generate_series(1, ${copies - 1}) k(n) ORDER BY k.n`,
    )
  }
  for (const index of indexes) await client.query(index)
  await client.query('VACUUM ANALYZE')
  await client.end()
  return address
}

const server = await startEmbeddedPostgres({ settings: { shared_buffers: '512MB', max_wal_size: '4GB' } })
const chain = createDevchain({ recordings: ['main'] })
try {
  const { httpUrl } = await chain.start()
  const { host, port, user, password } = server
  const admin = { host, port, user, password, database: 'postgres' }
  const source = await createOldDatabase(admin)
  const target = await createDatabase(admin, 'imported')
  let endedAt = performance.now()
  let rows = 0
  const report = await importDatabase({
    source,
    database: target,
    chain: { chainId: chain.chainId, http: httpUrl },
    settings,
    workers,
    // Copied rows have other ids, so the import finds that the source database lacks rows.
    mayLack: true,
    logger: createLogger({ name: 'bench', level: 'warn', pretty: true }),
    signal: new AbortController().signal,
    onProgress: (progress) => {
      if (progress.done !== progress.of) return
      const seconds = (performance.now() - endedAt) / 1_000
      console.log(
        `  ${progress.phase.padEnd(26)} ${String(progress.rows - rows).padStart(9)} rows ${seconds.toFixed(2).padStart(7)} s`,
      )
      endedAt = performance.now()
      rows = progress.rows
    },
  })
  const copied = await copyAlone(target, await createDatabase(admin, 'copied'))
  console.log(
    `import: ${copied.rows} rows in ${report.seconds.toFixed(2)} s: ${Math.round(copied.rows / report.seconds)} rows/s, ${workers} workers`,
  )
  console.log(
    `COPY of the same rows in one session takes ${copied.seconds.toFixed(2)} s, ${Math.round(copied.rows / copied.seconds)} rows/s; the import takes ${(report.seconds / copied.seconds).toFixed(2)} times as long`,
  )
  console.log(
    `size in bytes: the new database with keys ${copied.bytes}, the old database without indexes ${await sizeOf(source)}`,
  )
} finally {
  await chain.stop()
  await server.stop()
}

async function sizeOf(address: DatabaseAddress): Promise<bigint> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const { rows } = await client.query<{ bytes: bigint }>(
    `SELECT sum(pg_table_size(oid))::bigint AS bytes FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  )
  await client.end()
  return rows[0]!.bytes
}
