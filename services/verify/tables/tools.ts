import { keyText, parseKeyText } from '../../core/antelope/index.ts'
import type { VerifiedTable } from './table.ts'
import {
  bigList,
  byNumber,
  flag,
  freeText,
  freeTextColumn,
  id,
  ids,
  onlyRow,
  plain,
  text,
  unknownHistory,
} from './values.ts'

/** Tables of the tools contract. */
export const toolsTables: readonly VerifiedTable[] = [
  {
    name: 'tools.config',
    family: 'tools',
    contractTable: 'config',
    key: [{ name: 'contract', type: 'text' }],
    from: 'tools.config t',
    columns: [
      plain('version', 'text'),
      plain('assets_contract', 'text'),
      { name: 'link_counter', sql: 't.link_counter::text', type: 'numeric' },
    ],
    expect: ({ scope, data }) => ({
      key: [scope],
      values: {
        version: text(data.version),
        assets_contract: text(data.atomicassets_account),
        link_counter: id(data.link_counter),
      },
    }),
    locate: onlyRow('config'),
    insert: {},
  },
  {
    name: 'tools.links',
    family: 'tools',
    contractTable: 'links',
    key: [{ name: 'link_id', type: 'bigint' }],
    from: 'tools.links t',
    where: 't.state IN (0, 1)',
    columns: [
      plain('creator', 'text'),
      plain('public_key', 'text'),
      bigList('asset_ids'),
      {
        name: 'assets_transferred',
        sql: 't.state = 1',
        type: 'boolean',
        into: 'state',
        write: '$::integer',
      },
      freeTextColumn('memo'),
    ],
    expect: ({ data }) => ({
      key: [id(data.link_id)],
      values: {
        creator: text(data.creator),
        public_key: modernKey(text(data.key)),
        asset_ids: ids(data.asset_ids),
        assets_transferred: flag(data.assets_transferred),
        memo: freeText(data.memo),
      },
    }),
    locate: byNumber,
    insert: {
      ...unknownHistory(['created', 'updated']),
      has_unknown_assets: 'sql:false',
      collection_names: "sql:'{}'",
    },
    reopen: ['claimer = NULL', 'claimer_signature = NULL'],
    complete: `
      UPDATE tools.links t SET (collection_names, has_unknown_assets) = (
        SELECT coalesce(array_agg(DISTINCT a.collection_name ORDER BY a.collection_name) FILTER (WHERE a.asset_id IS NOT NULL), '{}'),
          count(*) > count(a.asset_id)
        FROM unnest(t.asset_ids) g(id) LEFT JOIN assets.assets a ON a.asset_id = g.id)`,
  },
]

/** A public key in the form that names its curve, from either form. */
function modernKey(key: string): string {
  const packed = parseKeyText('PUB', key)
  return keyText('PUB', packed[0]!, packed.subarray(1))
}
