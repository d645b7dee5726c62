import type { NamedSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import type { LoggedActions } from '../../nft/logs/index.ts'
import { logRecord } from '../../nft/logs/index.ts'

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
