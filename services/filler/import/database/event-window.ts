import type pg from 'pg'
import type { OldSource } from './old-source.ts'
import { literal } from './copy-parts.ts'
import type { PartContext } from './copy-parts.ts'

/** Columns that logs, transfers, bids and payouts of the source database have in common. */
interface OldEvent {
  /** Global sequence; null for bids, whose sequence the source database does not store. */
  readonly seq: bigint | null
  readonly txid: Buffer
  readonly block: number
  readonly timeMs: number
}

/** A row of `contract_traces`, the log of actions in the source database. */
export interface OldTrace extends OldEvent {
  readonly kind: 'trace'
  readonly seq: bigint
  readonly account: string
  readonly name: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A transfer with its asset ids in the order of the transfer. */
export interface OldTransfer extends OldEvent {
  readonly kind: 'transfer'
  readonly seq: bigint
  readonly sender: string
  readonly recipient: string
  readonly memo: string
  readonly collection: string | null
  readonly assetIds: readonly bigint[]
}

export interface OldBid extends OldEvent {
  readonly kind: 'bid'
  readonly seq: null
  readonly auctionId: bigint
  readonly account: string
  readonly amount: bigint
}

/** A royalty payout; only sources of version 2.x (atomicassets-api) have payouts. */
export interface OldPayout extends OldEvent {
  readonly kind: 'payout'
  readonly seq: bigint
  readonly index: number
  readonly category: number
  readonly listingKind: number
  readonly listingId: bigint | null
  readonly templateId: number | null
  readonly assetId: bigint | null
  readonly ruleId: bigint | null
  readonly amount: bigint
  readonly token: string
  readonly collection: string
  readonly recipient: string
}

export type OldEventRow = OldTrace | OldTransfer | OldBid | OldPayout

/** A span of block time: `fromMs` inclusive, `toMs` exclusive. */
export interface TimeWindow {
  readonly fromMs: number
  readonly toMs: number
}

interface Dated {
  seq: bigint
  txid: Buffer
  block: bigint
  time: bigint
}

const dated = (row: Dated) => ({ txid: row.txid, block: Number(row.block), timeMs: Number(row.time) })

/** Reads the logs, transfers, bids and payouts of a time window up to the import block, in no defined order. */
export async function readEvents(
  client: pg.Client,
  context: PartContext,
  window: TimeWindow,
): Promise<OldEventRow[]> {
  const { accounts, source, block } = context
  const inWindow = (alias: string) =>
    `${alias}.created_at_time >= ${window.fromMs} AND ${alias}.created_at_time < ${window.toMs} AND ${alias}.created_at_block <= ${block}`
  const logged = [accounts.assets, accounts.market, accounts.tools].flatMap((name) => name ?? [])
  const events: OldEventRow[] = []
  const traces = await client.query<
    Dated & { account: string; name: string; metadata: Record<string, unknown> }
  >(
    `SELECT DISTINCT ON (t.global_sequence) t.global_sequence AS seq, t.account, t.name, t.metadata, t.txid,
       t.created_at_block AS block, t.created_at_time AS time
     FROM contract_traces t WHERE t.account IN (${logged.map(literal).join(', ')}) AND ${inWindow('t')}
     ORDER BY t.global_sequence`,
  )
  for (const row of traces.rows)
    events.push({
      kind: 'trace',
      seq: row.seq,
      ...dated(row),
      account: row.account,
      name: row.name,
      metadata: row.metadata,
    })
  if (accounts.assets !== null) events.push(...(await readTransfers(client, accounts.assets, inWindow('t'))))
  if (accounts.market !== null)
    events.push(...(await readMarketEvents(client, source, accounts.market, inWindow('t'))))
  return events
}

async function readTransfers(client: pg.Client, account: string, condition: string): Promise<OldTransfer[]> {
  const { rows } = await client.query<
    Dated & {
      sender: string
      recipient: string
      memo: string
      collection: string | null
      ids: string[] | null
    }
  >(
    `SELECT t.transfer_id AS seq, t.sender, t.recipient, t.memo, t.txid, t.created_at_block AS block, t.created_at_time AS time,
       g.ids, (SELECT a.collection_name FROM atomicassets_assets a WHERE a.contract = t.contract AND a.asset_id = g.ids[1]) AS collection
     FROM atomicassets_transfers t CROSS JOIN LATERAL (
       SELECT array_agg(x.asset_id ORDER BY x.index) AS ids FROM atomicassets_transfers_assets x
       WHERE x.contract = t.contract AND x.transfer_id = t.transfer_id
     ) g WHERE t.contract = ${literal(account)} AND ${condition}`,
  )
  return rows.map((row) => ({
    kind: 'transfer',
    seq: row.seq,
    ...dated(row),
    sender: row.sender,
    recipient: row.recipient,
    memo: row.memo,
    collection: row.collection,
    assetIds: (row.ids ?? []).map(BigInt),
  }))
}

async function readMarketEvents(
  client: pg.Client,
  source: OldSource,
  account: string,
  condition: string,
): Promise<(OldBid | OldPayout)[]> {
  const contract = literal(account)
  const bids = await client.query<
    Omit<Dated, 'seq'> & { auction_id: bigint; account: string; amount: bigint }
  >(
    `SELECT t.auction_id, t.account, t.amount, t.txid, t.created_at_block AS block, t.created_at_time AS time
     FROM atomicmarket_auctions_bids t WHERE t.market_contract = ${contract} AND ${condition}
     ORDER BY t.created_at_block, t.auction_id, t.bid_number`,
  )
  const events: (OldBid | OldPayout)[] = bids.rows.map((row) => ({
    kind: 'bid',
    ...dated({ ...row, seq: 0n }),
    seq: null,
    auctionId: row.auction_id,
    account: row.account,
    amount: row.amount,
  }))
  if (!source.has('atomicmarket_royalty_payouts')) return events
  const payouts = await client.query<
    Dated & {
      index: number
      category: number
      kind: number
      listing_id: bigint | null
      template_id: bigint | null
      asset_id: bigint | null
      rule_id: bigint | null
      amount: bigint
      token: string
      collection: string
      recipient: string
    }
  >(
    `SELECT t.log_global_sequence AS seq, t.payout_index AS index, t.category, t.listing_type AS kind, t.listing_id, t.template_id,
       t.asset_id, t.rule_id, t.amount, t.token_symbol AS token, t.collection_name AS collection, t.recipient, t.txid,
       t.created_at_block AS block, t.created_at_time AS time
     FROM atomicmarket_royalty_payouts t WHERE t.market_contract = ${contract} AND ${condition}`,
  )
  for (const row of payouts.rows)
    events.push({
      kind: 'payout',
      seq: row.seq,
      ...dated(row),
      index: row.index,
      category: row.category,
      listingKind: row.kind,
      listingId: row.listing_id,
      templateId: row.template_id === null ? null : Number(row.template_id),
      assetId: row.asset_id,
      ruleId: row.rule_id,
      amount: row.amount,
      token: row.token,
      collection: row.collection,
      recipient: row.recipient,
    })
  return events
}

/**
 * Returns the greatest global sequence in the source database before the time `timeMs`. Reads the entries of
 * `contract_traces` in the hour before `timeMs`, and the latest transfer before `timeMs`. Returns null if both are
 * missing.
 */
export async function lastSequenceBefore(
  client: pg.Client,
  context: PartContext,
  timeMs: number,
): Promise<bigint | null> {
  const { rows } = await client.query<{ seq: bigint | null }>(
    `SELECT max(v.seq) AS seq FROM (
       (SELECT max(t.global_sequence) AS seq FROM contract_traces t
        WHERE t.created_at_time < ${timeMs} AND t.created_at_time >= ${timeMs - LOOK_BACK_MS})
       UNION ALL
       (SELECT t.transfer_id FROM atomicassets_transfers t
        WHERE t.contract = ${literal(context.accounts.assets ?? '')} AND t.created_at_time < ${timeMs}
        ORDER BY t.created_at_time DESC, t.transfer_id DESC LIMIT 1)) v`,
  )
  return rows[0]?.seq ?? null
}

/**
 * Time span of the log that `lastSequenceBefore` reads, ms. The log of the source database has no index by global
 * sequence, so the search has to be limited by time.
 */
const LOOK_BACK_MS = 3_600_000
