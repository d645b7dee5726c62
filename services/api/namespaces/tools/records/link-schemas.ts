import { shape } from '../../../endpoint/index.ts'
import { declareRecord } from '../../../records/fields/index.ts'
import type { LoggedActions } from '../../nft/logs/index.ts'
import { logFields } from '../../nft/logs/index.ts'

export const linkActions: LoggedActions = {
  lognewlink: shape.object({}),
  loglinkstart: shape.object({}),
  cancellink: shape.object({}),
  claimlink: shape.object({
    claimer_signature: shape.text('Signature of the claim: SIG_K1_..., SIG_R1_... or SIG_WA_...'),
  }),
}

/** Record type of an entry of the log of a link. */
export const linkLogRecord = declareRecord(
  'LinkLog',
  'An action on a link',
  logFields(linkActions, {
    seq: 'p.k',
    name: 'n.name',
    data: `CASE WHEN n.name = 'claimlink' THEN concat('{"claimer_signature":', coalesce(to_json(k.claimer_signature)::text, 'null'), '}')
      ELSE '{}' END`,
  }),
)
