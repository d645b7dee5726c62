import type { Origin } from '../../core/model/index.ts'

/** Why a column that is neither compared nor recomputed cannot be checked, by where its values come from. */
export const notChecked: Readonly<Partial<Record<Origin, string>>> = {
  block:
    'times and blocks of the past: the chain does not hold them, only contradictions between rows are found',
  action:
    'what actions of the past said: the chain does not hold it, only contradictions between rows are found',
  decoding: 'what the reader itself decodes by: rows that were decoded wrongly differ from the chain',
  identity: 'the id of the chain: a node of another chain is refused, the other sources do not have it',
  state: 'rows of the handler state: with --state, the other rows are compared with these',
}
