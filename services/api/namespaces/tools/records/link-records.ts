import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonMembers, jsonText, quoted } from '../../../json/index.ts'
import type { Assembler, RecordKind } from '../../../records/index.ts'
import { cte, recordKind } from '../../../records/index.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import { assetArray, assetAssembler, containedKeys, measureContaining } from '../../nft/records/index.ts'
import type { ToolsSetup } from '../setup.ts'

/** Name of the relation that contained assets are selected from. */
const CONTAINED = 'contained'

const fields = [
  'r.link_id',
  jsonMembers({
    creator: quoted('r.creator'),
    claimer: quoted('r.claimer'),
    state: 'r.state',
    memo: jsonText('r.memo'),
  }),
  `array_to_string(r.asset_ids, ',')`,
  jsonMembers({
    created_at_block: quoted('nullif(r.created_at_block, 0)'),
    created_at_time: quoted('nullif(r.created_at_time, 0)'),
    updated_at_block: quoted('nullif(r.updated_at_block, 0)'),
    updated_at_time: quoted('nullif(r.updated_at_time, 0)'),
    public_key: quoted('r.public_key'),
  }),
]

type LinkRow = readonly [id: string, terms: string, assetIds: string, origin: string]

/** The records of links. */
export function linkKind(setup: Omit<ToolsSetup, 'links' | 'lists'>): RecordKind {
  return recordKind(setup.shared, linkAssembler(setup))
}

function ownCtes(keys: string): Sql[] {
  const rows = `SELECT p.n, l.* FROM ${keys} p CROSS JOIN LATERAL (
    SELECT l.* FROM tools.links l WHERE l.link_id = p.k OFFSET 0) l`
  return [cte('r', rows), cte(CONTAINED, containedKeys('r', 'r.asset_ids'))]
}

function linkAssembler({ contract, assetsContract }: Omit<ToolsSetup, 'links' | 'lists'>): Assembler {
  // The selected columns do not depend on the contract of the assets.
  const assets = assetAssembler({ contract: '' })
  const configured = bind(assetsContract ?? null, 'text')
  return {
    keyType: 'bigint',
    columnCount: 2 + assets.columnCount,
    select(keys) {
      const contained = assets.select(CONTAINED)
      return {
        ...contained,
        ctes: [...ownCtes(keys), ...contained.ctes],
        columns: [
          raw(`(SELECT ${packRows(fields, 'r.n')} FROM r)`),
          sql`coalesce((SELECT c.assets_contract FROM tools.config c), ${configured}, (SELECT c.contract FROM assets.config c), '')`,
          ...contained.columns,
        ],
      }
    },
    measure: (keys) =>
      measureContaining({
        ...{
          ctes: ownCtes(keys),
          contained: CONTAINED,
          key: 'r.link_id',
          texts: fields,
          assetIds: 'r.asset_ids',
        },
      }),
    read([packed, named, ...texts]) {
      const account = named ?? ''
      const pending = assetAssembler({ contract: account }).read(texts)
      return {
        versions: pending.versions,
        assemble(found) {
          const known = pending.assemble(found)
          const links = unpackRows<LinkRow>(packed).map(([id, terms, assetIds, origin]): [string, Json] => {
            const accounts = `"tools_contract":"${contract}","link_id":"${id}","assets_contract":"${account}"`
            const contained = assetArray(assetIds, known, account)
            return [id, [`{${accounts},${terms},"assets":`, contained, `,${origin}}`]]
          })
          return new Map(links)
        },
      }
    },
  }
}
