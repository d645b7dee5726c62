import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { decodeAttributes, formatAmount } from '../../services/core/antelope/index.ts'

/** A table as the chain's HTTP API gave it: scope to rows. */
export type ChainTable = Record<string, { rows: { payer: string; data: Record<string, unknown> }[] }>

interface Field {
  name: string
  type: string
}

const fixtures = join(import.meta.dirname, '../fixtures/recordings')

/** Reads a table of a contract after a recording; empty when the chain did not have it. */
export function readTable(recording: string, table: string, contract = 'atomicassets'): ChainTable {
  try {
    return JSON.parse(
      readFileSync(join(fixtures, recording, 'tables', `${contract}.${table}.json`), 'utf8'),
    ) as ChainTable
  } catch {
    return {}
  }
}

/** Every row of a table with its scope, in the order of `key`. */
export function rowsOf(
  table: ChainTable,
  key: (row: Record<string, unknown>) => string,
): Record<string, unknown>[] {
  return Object.entries(table)
    .flatMap(([scope, { rows }]) => rows.map(({ data }): Record<string, unknown> => ({ scope, ...data })))
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

function decode(format: readonly Field[], bytes: unknown): unknown {
  const { attributes, problem } = decodeAttributes(format, Uint8Array.from(bytes as number[]))
  if (problem) throw new Error(problem.message)
  return JSON.parse(JSON.stringify({ ...attributes }))
}

/**
 * What the chain itself says it holds after a recording, in one form for both sides: table name to sorted rows.
 */
export function chainState(recording: string): Record<string, unknown[]> {
  const [config] = rowsOf(readTable(recording, 'config'), () => '') as [Record<string, unknown>]
  const schemas = rowsOf(
    readTable(recording, 'schemas'),
    (row) => `${String(row.scope)}/${String(row.schema_name)}`,
  )
  const formats = new Map(
    schemas.map((row) => [`${String(row.scope)}/${String(row.schema_name)}`, row.format as Field[]]),
  )
  const format = (collection: unknown, schema: unknown) =>
    formats.get(`${String(collection)}/${String(schema)}`)!
  const types = new Map(
    rowsOf(readTable(recording, 'schematypes'), () => '').map((row) => [
      `${String(row.scope)}/${String(row.schema_name)}`,
      row.format_type,
    ]),
  )
  const mutable = new Map(
    rowsOf(readTable(recording, 'templates2'), () => '').map((row) => [row.template_id, row]),
  )
  const [tokenconfigs] = rowsOf(readTable(recording, 'tokenconfigs'), () => '') as [Record<string, unknown>]
  return {
    config: [
      {
        contract: 'atomicassets',
        standard: tokenconfigs.standard,
        version: tokenconfigs.version,
        asset_counter: config.asset_counter,
        template_counter: config.template_counter,
        offer_counter: String(config.offer_counter),
        collection_format: config.collection_format,
      },
    ],
    tokens: (config.supported_tokens as { sym: string; contract: string }[])
      .map(({ sym, contract }) => ({ sym, contract }))
      .sort((a, b) => (a.sym.split(',')[1]! < b.sym.split(',')[1]! ? -1 : 1)),
    balances: rowsOf(readTable(recording, 'balances'), (row) => String(row.owner)).map(
      ({ owner, quantities }) => ({
        owner,
        quantities: [...(quantities as string[])].sort(),
      }),
    ),
    collections: rowsOf(readTable(recording, 'collections'), (row) => String(row.collection_name)).map(
      (row) => ({
        collection_name: row.collection_name,
        author: row.author,
        allow_notify: Boolean(row.allow_notify),
        authorized_accounts: row.authorized_accounts,
        notify_accounts: row.notify_accounts,
        market_fee: Number(row.market_fee),
        data: decode(config.collection_format as Field[], row.serialized_data),
      }),
    ),
    author_swaps: rowsOf(readTable(recording, 'authorswaps'), (row) => String(row.collection_name)).map(
      ({ scope: _, ...row }) => row,
    ),
    schemas: schemas.map((row) => ({
      collection_name: row.scope,
      schema_name: row.schema_name,
      format: row.format,
      types: types.get(`${String(row.scope)}/${String(row.schema_name)}`) ?? null,
    })),
    templates: rowsOf(readTable(recording, 'templates'), (row) =>
      String(row.template_id).padStart(10, '0'),
    ).map((row) => {
      const extra = mutable.get(row.template_id)
      return {
        template_id: row.template_id,
        collection_name: row.scope,
        schema_name: row.schema_name,
        transferable: Boolean(row.transferable),
        burnable: Boolean(row.burnable),
        max_supply: String(row.max_supply),
        issued_supply: String(row.issued_supply),
        immutable_data: decode(format(row.scope, row.schema_name), row.immutable_serialized_data),
        mutable_data: extra
          ? decode(format(row.scope, extra.schema_name), extra.mutable_serialized_data)
          : null,
      }
    }),
    assets: rowsOf(readTable(recording, 'assets'), (row) => String(row.asset_id).padStart(20, '0')).map(
      (row) => ({
        asset_id: row.asset_id,
        owner: row.scope,
        collection_name: row.collection_name,
        schema_name: row.schema_name,
        template_id: row.template_id,
        ram_payer: row.ram_payer,
        backed_tokens: [...(row.backed_tokens as string[])].sort(),
        immutable_data: decode(format(row.collection_name, row.schema_name), row.immutable_serialized_data),
        mutable_data: decode(format(row.collection_name, row.schema_name), row.mutable_serialized_data),
      }),
    ),
    offers: rowsOf(readTable(recording, 'offers'), (row) => String(row.offer_id).padStart(20, '0')).map(
      ({ scope: _, ...row }) => ({
        ...row,
        offer_id: String(row.offer_id),
        memo: String(row.memo).replaceAll('\0', ' '),
      }),
    ),
  }
}

/** The same from the database. */
export async function databaseState(client: pg.Client): Promise<Record<string, unknown[]>> {
  const select = async (text: string): Promise<unknown[]> => {
    const { rows } = await client.query<{ row: unknown }>(`SELECT to_jsonb(r) AS row FROM (${text}) r`)
    return rows.map(({ row }) => row)
  }
  const tokens = await client.query<{
    token_symbol: string
    token_precision: number
    token_contract: string
  }>('SELECT * FROM assets.tokens ORDER BY token_symbol')
  const amounts = await client.query<{ owner: string; token_symbol: string; amount: bigint }>(
    'SELECT owner, token_symbol, amount FROM assets.balances',
  )
  const backed = await client.query<{ asset_id: bigint; token_symbol: string; amount: bigint }>(
    'SELECT asset_id, token_symbol, amount FROM assets.backed_tokens',
  )
  const precision = new Map(tokens.rows.map((token) => [token.token_symbol, token.token_precision]))
  const quantity = (row: { token_symbol: string; amount: bigint }) =>
    formatAmount(row.amount, precision.get(row.token_symbol)!, row.token_symbol)
  const owners = [...new Set(amounts.rows.map((row) => row.owner))].sort()
  const assets =
    (await select(`SELECT asset_id::text, owner, collection_name, schema_name, coalesce(template_id, -1) AS template_id, ram_payer,
    coalesce(immutable_data, '{}') AS immutable_data, coalesce(mutable_data, '{}') AS mutable_data
    FROM assets.assets a WHERE owner IS NOT NULL ORDER BY a.asset_id`)) as Record<string, unknown>[]
  return {
    config: await select(
      `SELECT contract, standard, version, asset_counter::text, template_counter, offer_counter::text, collection_format FROM assets.config`,
    ),
    tokens: tokens.rows.map((token) => ({
      sym: `${token.token_precision},${token.token_symbol}`,
      contract: token.token_contract,
    })),
    balances: owners.map((owner) => ({
      owner,
      quantities: amounts.rows
        .filter((row) => row.owner === owner)
        .map(quantity)
        .sort(),
    })),
    collections: await select(
      `SELECT collection_name, author, allow_notify, authorized_accounts, notify_accounts, market_fee, data FROM assets.collections ORDER BY 1`,
    ),
    author_swaps: await select(
      'SELECT collection_name, current_author, new_author, acceptance_date FROM assets.author_swaps ORDER BY 1',
    ),
    schemas: await select(
      'SELECT collection_name, schema_name, format, types FROM assets.schemas ORDER BY collection_name, schema_name',
    ),
    templates:
      await select(`SELECT template_id, collection_name, schema_name, transferable, burnable, max_supply::text, issued_supply::text, immutable_data, mutable_data
      FROM assets.templates WHERE deleted_at_block IS NULL ORDER BY template_id`),
    assets: assets.map((asset) => ({
      ...asset,
      backed_tokens: backed.rows
        .filter((row) => row.asset_id.toString() === asset.asset_id)
        .map(quantity)
        .sort(),
    })),
    offers:
      await select(`SELECT offer_id::text, sender, recipient, sender_asset_ids::text[] AS sender_asset_ids, recipient_asset_ids::text[] AS recipient_asset_ids, memo, ram_payer
      FROM assets.offers o WHERE state IN (0, 1) ORDER BY o.offer_id`),
  }
}
