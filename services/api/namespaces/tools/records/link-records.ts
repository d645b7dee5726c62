import type { Session } from '../../../database/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import {
  distinctIds,
  jsonMembers,
  jsonText,
  packRows,
  queryPacked,
  quoted,
  renderAssets,
} from '../../assets/index.ts'
import type { ToolsSetup } from '../setup.ts'
import { unknownKeys } from './link-schemas.ts'

const LINKS = {
  name: 'link-records',
  text: `SELECT ${packRows([
    'l.link_id',
    `coalesce((SELECT c.assets_contract FROM tools.config c), $2::text, (SELECT c.contract FROM assets.config c), '')`,
    jsonMembers({
      creator: quoted('l.creator'),
      claimer: quoted('l.claimer'),
      state: 'l.state',
      memo: jsonText('l.memo'),
    }),
    `array_to_string(l.asset_ids, ',')`,
    jsonMembers({
      created_at_block: quoted('l.created_at_block'),
      created_at_time: quoted('l.created_at_time'),
      updated_at_block: quoted('l.updated_at_block'),
      updated_at_time: quoted('l.updated_at_time'),
      public_key: quoted('l.public_key'),
    }),
  ])}
    FROM tools.links l WHERE l.link_id = ANY($1::bigint[])`,
}

type LinkRow = [id: string, assetsContract: string, terms: string, assetIds: string, origin: string]

const UNKNOWN_MEMBERS = unknownKeys.map((name) => `"${name}":null`).join(',')

/** Makes the JSON of links in the order of their ids; one that is not there is left out. */
export async function renderLinks(
  session: Session,
  setup: ToolsSetup,
  ids: readonly string[],
): Promise<Json[]> {
  const links = await readLinks(session, setup, ids)
  return ids.map((id) => links.get(id)).filter((text) => text !== undefined)
}

/** The records of links by id. */
export async function readLinks(
  session: Session,
  setup: ToolsSetup,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Json>> {
  const rows = await queryPacked<LinkRow>(session, { ...LINKS, values: [ids, setup.assetsContract ?? null] })
  const [first] = rows
  if (first === undefined) return new Map()
  // The contract is that of the configuration, the same in every row.
  const assetsContract = first[1]
  const known = await renderAssets(
    session,
    assetsContract,
    setup.parts,
    distinctIds(rows.map((row) => row[3])),
  )
  const assetText = (id: string): Json =>
    known.get(id) ?? `{"contract":"${assetsContract}","asset_id":"${id}",${UNKNOWN_MEMBERS}}`
  const links = new Map<string, Json>()
  for (const [id, , terms, assetIds, origin] of rows) {
    const accounts = `"tools_contract":"${setup.contract}","link_id":"${id}","assets_contract":"${assetsContract}"`
    const assets = assetIds === '' ? [] : assetIds.split(',').map(assetText)
    links.set(id, [`{${accounts},${terms},"assets":`, jsonArray(assets), `,${origin}}`])
  }
  return links
}
