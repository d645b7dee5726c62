import type { NamedSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import type { LoggedActions } from '../../nft/logs/index.ts'
import { assetRecord, containedAssets } from '../../nft/record-schemas/index.ts'
import { logRecord } from '../../nft/logs/index.ts'

/** A link. */
export const linkRecord: NamedSchema = shape.record('Link', 'A link that assets are claimed with', {
  tools_contract: shape.text('Account of the contract'),
  link_id: shape.decimal('Link'),
  assets_contract: shape.text('Account of the assets contract'),
  creator: shape.text('Account that announced it'),
  claimer: shape.nullable(shape.text('Account that claimed it')),
  state: {
    type: 'integer',
    enum: [0, 1, 2, 3],
    description: '0 waiting for its assets, 1 created: can be claimed, 2 cancelled, 3 claimed',
  },
  memo: shape.text('Memo'),
  assets: containedAssets(assetRecord, 'Assets in the order of the announcement, in their present state'),
  created_at_block: shape.ofHistory(shape.decimal('Block of the announcement')),
  created_at_time: shape.ofHistory(shape.time('Time of the announcement')),
  updated_at_block: shape.ofHistory(shape.decimal('Block of the last change of state')),
  updated_at_time: shape.ofHistory(shape.time('Time of the last change of state')),
  public_key: shape.text('Key that the claim must be signed with: PUB_K1_..., PUB_R1_... or PUB_WA_...'),
})

/** Actions on links. */
export const linkActions: LoggedActions = {
  lognewlink: shape.object({}),
  loglinkstart: shape.object({}),
  cancellink: shape.object({}),
  claimlink: shape.object({
    claimer_signature: shape.text('Signature of the claim: SIG_K1_..., SIG_R1_... or SIG_WA_...'),
  }),
}

/** An entry of the log of a link. */
export const linkLogRecord: NamedSchema = logRecord('LinkLog', 'An action on a link', linkActions)

/** Settings of the contract. */
export const toolsConfigRecord: NamedSchema = shape.record('Config', 'Settings of the contract', {
  atomictools_contract: shape.text('Account of the contract'),
  atomicassets_contract: shape.text('Account of the assets contract'),
  version: shape.text('Version that the contract names'),
  'history_since_block?': shape.historySince(),
})
