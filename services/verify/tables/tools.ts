import { keyText, parseKeyText } from '../../core/antelope/index.ts'
import type { VerifiedTable } from './table.ts'
import { bigList, byNumber, flag, freeText, freeTextColumn, id, ids, onlyRow, plain, text } from './values.ts'

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
  },
  {
    name: 'tools.links',
    family: 'tools',
    contractTable: 'links',
    key: [{ name: 'link_id', type: 'bigint' }],
    from: 'tools.links t',
    where: 't.state IN (0, 1)',
    ended: 'ended links',
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
  },
]

/** A public key in the form that names its curve, from either form. */
function modernKey(key: string): string {
  const packed = parseKeyText('PUB', key)
  return keyText('PUB', packed[0]!, packed.subarray(1))
}
