import { declareKind } from '../../../records/index.ts'
import type { DeclaredKind } from '../../../records/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { field } from '../../../records/fields/index.ts'
import { assetList, assetsOf, containedAssets } from '../../nft/records/index.ts'

/**
 * Declares the record type of links.
 * @param configured account of the assets contract, used until the tools contract names the account.
 */
export function linksOf(configured: string | undefined): DeclaredKind {
  const account = `to_json(coalesce((SELECT g.assets_contract FROM tools.config g), ${configured === undefined ? '' : `'${configured}', `}
    (SELECT g.contract FROM assets.config g), ''))`
  const assets = assetsOf({
    title: 'Asset',
    description: 'An asset',
    contract: field.json(account, shape.text('Account of the contract')),
  })
  return declareKind({
    ...{ title: 'Link', description: 'A link with which an account claims assets', keyType: 'bigint' },
    ...{ alias: 'l', key: 'l.link_id', from: 'tools.links l' },
    further: ['l.asset_ids'],
    members: {
      tools_contract: field.contract('tools_contract', 'Account of the contract'),
      link_id: field.decimal('l.link_id', 'Link'),
      assets_contract: field.json(account, shape.text('Account of the assets contract')),
      creator: field.name('l.creator', 'Account that announced the link'),
      claimer: field.nullable(field.name('l.claimer', 'Account that claimed the link')),
      state: field.json('l.state', {
        type: 'integer',
        enum: [0, 1, 2, 3],
        description: '0 waiting for its assets, 1 created: can be claimed, 2 cancelled, 3 claimed',
      }),
      memo: field.text('l.memo', 'Memo'),
      assets: assetList(assets, {
        name: 'assets',
        description: 'Assets in the order of the announcement, with their current data',
        ids: 'l.asset_ids',
        contract: account,
      }),
      created_at_block: field.ofHistory(field.decimal('l.created_at_block', 'Block of the announcement')),
      created_at_time: field.ofHistory(field.time('l.created_at_time', 'Time of the announcement')),
      updated_at_block: field.ofHistory(
        field.decimal('l.updated_at_block', 'Block of the last change of state'),
      ),
      updated_at_time: field.ofHistory(field.time('l.updated_at_time', 'Time of the last change of state')),
      public_key: field.name(
        'l.public_key',
        'Key with which the claim must be signed: PUB_K1_..., PUB_R1_... or PUB_WA_...',
      ),
    },
    contained: containedAssets(assets, 'l.asset_ids'),
  })
}
