import { raw } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Json } from '../../../json/index.ts'
import type { Assembler } from '../../../records/index.ts'
import { cte } from '../../../records/index.ts'
import { jsonText } from '../../../json/index.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import {
  quotedOrNull,
  quotedOrUnknown,
  containedKeys,
  assetArray,
  measureContaining,
} from '../../nft/records/index.ts'
import type { RecordSource } from '../../nft/records/index.ts'

const hasCode = (account: string): string =>
  `EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = ${account})`
/** Name of the relation that contained assets are selected from. */
const CONTAINED = 'contained'

/** A kind of record that contains assets: its own row, and which assets. */
interface TradeSql {
  /** Query of the rows with their places, `n`. @param keys relation with the keys. */
  readonly rows: (keys: string) => string
  /** SQL of an array of its assets; `r` is the row. */
  readonly assetIds: string
  /** SQL of what is packed of a row, `r`. The first is the key. */
  readonly fields: readonly string[]
}

/** Assembles records that contain assets. @param members own members of a row, and its lists of assets by member. */
function tradeAssembler(
  { rows, assetIds, fields }: TradeSql,
  source: RecordSource,
  assets: Assembler,
  recordOf: (row: readonly string[], contained: ReadonlyMap<string, Json>, contract: string) => Json,
): Assembler {
  const ownCtes = (keys: string): Sql[] => [
    cte('r', rows(keys)),
    cte(CONTAINED, containedKeys('r', assetIds)),
  ]
  return {
    keyType: 'bigint',
    columnCount: 1 + assets.columnCount,
    select(keys) {
      const contained = assets.select(CONTAINED)
      return {
        ...contained,
        ctes: [...ownCtes(keys), ...contained.ctes],
        columns: [raw(`(SELECT ${packRows(fields, 'r.n')} FROM r)`), ...contained.columns],
      }
    },
    measure: (keys) =>
      measureContaining({
        ...{ ctes: ownCtes(keys), contained: CONTAINED, key: fields[0]!, texts: fields, assetIds },
      }),
    read([packed, ...texts]) {
      const own = unpackRows(packed)
      const pending = assets.read(texts)
      return {
        versions: pending.versions,
        assemble(found) {
          const contained = pending.assemble(found)
          return new Map(own.map((row) => [row[0]!, recordOf(row, contained, source.contract)]))
        },
      }
    },
  }
}

type OfferRow = readonly [
  id: string,
  sender: string,
  recipient: string,
  memo: string,
  state: string,
  senderHasCode: string,
  recipientHasCode: string,
  updatedAtBlock: string,
  updatedAtTime: string,
  createdAtBlock: string,
  createdAtTime: string,
  sent: string,
  received: string,
]

const offers: TradeSql = {
  rows: (keys) => `SELECT p.n, o.* FROM ${keys} p CROSS JOIN LATERAL (
      SELECT o.*, ${hasCode('o.sender')} AS sender_has_code, ${hasCode('o.recipient')} AS recipient_has_code
      FROM assets.offers o WHERE o.offer_id = p.k OFFSET 0) o`,
  assetIds: 'r.sender_asset_ids || r.recipient_asset_ids',
  fields: [
    'r.offer_id',
    'r.sender',
    'r.recipient',
    jsonText('r.memo'),
    'r.state',
    'r.sender_has_code::text',
    'r.recipient_has_code::text',
    'r.updated_at_block',
    'r.updated_at_time',
    'r.created_at_block',
    'r.created_at_time',
    `array_to_string(r.sender_asset_ids, ',')`,
    `array_to_string(r.recipient_asset_ids, ',')`,
  ],
}

/** Assembles offers. @param assets assembles the assets in them. */
export function offerAssembler(source: RecordSource, assets: Assembler): Assembler {
  return tradeAssembler(offers, source, assets, (row, contained, contract) => {
    const [id, sender, recipient, memo, state, senderHasCode, recipientHasCode, ...times] = row as OfferRow
    const [updatedBlock, updatedTime, createdBlock, createdTime, sent, received] = times
    return [
      `{"contract":"${contract}","offer_id":"${id}","sender_name":"${sender}","recipient_name":"${recipient}",` +
        `"memo":${memo},"state":${state},"is_sender_contract":${senderHasCode},` +
        `"is_recipient_contract":${recipientHasCode},"updated_at_block":${quotedOrUnknown(updatedBlock)},` +
        `"updated_at_time":${quotedOrUnknown(updatedTime)},"created_at_block":${quotedOrUnknown(createdBlock)},` +
        `"created_at_time":${quotedOrUnknown(createdTime)},"sender_assets":`,
      assetArray(sent, contained, contract),
      ',"recipient_assets":',
      assetArray(received, contained, contract),
      '}',
    ]
  })
}

type TransferRow = readonly [
  id: string,
  sender: string,
  recipient: string,
  memo: string,
  txid: string,
  block: string,
  time: string,
  moved: string,
]

const transfers: TradeSql = {
  rows: (keys) => `SELECT p.n, t.*, x.* FROM ${keys} p CROSS JOIN LATERAL (
      SELECT t.* FROM assets.transfers t WHERE t.transfer_id = p.k OFFSET 0) t
      LEFT JOIN LATERAL assets.origin_of(t.transfer_id) x ON true`,
  assetIds: 'r.asset_ids',
  fields: [
    'r.transfer_id',
    'r.sender',
    'r.recipient',
    jsonText('r.memo'),
    `encode(r.txid, 'hex')`,
    'r.block_num',
    'r.block_time',
    `array_to_string(r.asset_ids, ',')`,
  ],
}

/** Assembles transfers. @param assets assembles the assets in them. */
export function transferAssembler(source: RecordSource, assets: Assembler): Assembler {
  return tradeAssembler(transfers, source, assets, (row, contained, contract) => {
    const [id, sender, recipient, memo, txid, block, time, moved] = row as TransferRow
    return [
      `{"contract":"${contract}","transfer_id":"${id}","sender_name":"${sender}","recipient_name":"${recipient}",` +
        `"memo":${memo},"txid":${quotedOrNull(txid)},"created_at_block":${quotedOrNull(block)},` +
        `"created_at_time":${quotedOrNull(time)},"assets":`,
      assetArray(moved, contained, contract),
      '}',
    ]
  })
}
