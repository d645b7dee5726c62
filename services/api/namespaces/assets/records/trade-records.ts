import type { Json, KeptJson } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { RecordRenderer } from './asset-records.ts'
import type { Ingredient } from './composed-json.ts'
import { jsonMembers, jsonText, quoted } from './json-sql.ts'
import { packRows, queryPacked } from './packed-rows.ts'

const hasCode = (account: string): string =>
  `(EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = ${account}))::text`

const OFFERS = {
  name: 'offer-records',
  text: `SELECT ${packRows([
    'o.offer_id',
    jsonMembers({
      offer_id: quoted('o.offer_id'),
      sender_name: quoted('o.sender'),
      recipient_name: quoted('o.recipient'),
      memo: jsonText('o.memo'),
      state: 'o.state',
      is_sender_contract: hasCode('o.sender'),
      is_recipient_contract: hasCode('o.recipient'),
      updated_at_block: quoted('o.updated_at_block'),
      updated_at_time: quoted('o.updated_at_time'),
      created_at_block: quoted('o.created_at_block'),
      created_at_time: quoted('o.created_at_time'),
    }),
    `array_to_string(o.sender_asset_ids, ',')`,
    `array_to_string(o.recipient_asset_ids, ',')`,
  ])}
    FROM assets.offers o WHERE o.offer_id = ANY($1::bigint[])`,
}

const TRANSFERS = {
  name: 'transfer-records',
  text: `SELECT ${packRows([
    't.transfer_id',
    jsonMembers({
      transfer_id: quoted('t.transfer_id'),
      sender_name: quoted('t.sender'),
      recipient_name: quoted('t.recipient'),
      memo: jsonText('t.memo'),
      txid: quoted(`encode(x.txid, 'hex')`),
      created_at_block: quoted('x.block_num'),
      created_at_time: quoted('x.block_time'),
    }),
    `array_to_string(t.asset_ids, ',')`,
  ])}
    FROM assets.transfers t LEFT JOIN LATERAL assets.origin_of(t.transfer_id) x ON true
    WHERE t.transfer_id = ANY($1::bigint[])`,
}

/** Makes the renderer of offers, by id. @param renderAssets how the assets in them are shown. */
export function offerRenderer(renderAssets: RecordRenderer): RecordRenderer {
  return async (session, contract, parts, ids) => {
    const rows = await queryPacked<[string, string, string, string]>(session, { ...OFFERS, values: [ids] })
    const contained = distinctIds(rows.flatMap((row) => [row[2], row[3]]))
    const assets = await renderAssets(session, contract, parts, contained)
    const records = new Map<string, KeptJson>()
    for (const [id, own, sent, received] of rows) {
      const all = [contract, own, sent, received, ...assetsOf(sent, assets), ...assetsOf(received, assets)]
      const record = parts.composed.get(`offer ${id}`, all, () => {
        const head = `{"contract":"${contract}",${own}`
        const [theirs, ours] = [assetArray(sent, assets), assetArray(received, assets)]
        return [head, ',"sender_assets":', theirs, ',"recipient_assets":', ours, '}']
      })
      records.set(id, record)
    }
    return records
  }
}

/** Makes the renderer of transfers, by id. @param renderAssets how the assets in them are shown. */
export function transferRenderer(renderAssets: RecordRenderer): RecordRenderer {
  return async (session, contract, parts, ids) => {
    const rows = await queryPacked<[string, string, string]>(session, { ...TRANSFERS, values: [ids] })
    const assets = await renderAssets(session, contract, parts, distinctIds(rows.map((row) => row[2])))
    const records = new Map<string, KeptJson>()
    for (const [id, own, moved] of rows) {
      const all = [contract, own, moved, ...assetsOf(moved, assets)]
      const record = parts.composed.get(`transfer ${id}`, all, () => {
        return [`{"contract":"${contract}",${own},"assets":`, assetArray(moved, assets), '}']
      })
      records.set(id, record)
    }
    return records
  }
}

function splitIds(list: string): string[] {
  return list === '' ? [] : list.split(',')
}

/** The distinct ids of several comma lists. */
export function distinctIds(lists: readonly string[]): string[] {
  return [...new Set(lists.flatMap(splitIds))]
}

/** The assets of a comma list, as what a record is made of. */
export function assetsOf(list: string, assets: ReadonlyMap<string, KeptJson>): Ingredient[] {
  return splitIds(list).map((id) => assets.get(id))
}

/** JSON array of assets in the order of the ids (a comma list); one that is not known is its id. */
export function assetArray(list: string, assets: ReadonlyMap<string, Json>): Json {
  return jsonArray(splitIds(list).map((id) => assets.get(id) ?? `"${id}"`))
}
