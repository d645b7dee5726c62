import { texts } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import { paging, sortOrder } from '../paging/index.ts'

/** Parameters `action_whitelist` and `action_blacklist`. */
const logActions = {
  action_whitelist: texts('Action is one of the given values; unknown names are ignored.'),
  action_blacklist: texts('Action is none of the given values.'),
}

/** Parameters of the log of one asset, listing or other object. */
export function logParameters(limit: number) {
  return { ...paging(limit), ...sortOrder('asc'), ...logActions }
}

/** Values of {@link logParameters}. */
export type LogValues = Values<ReturnType<typeof logParameters>>

/** Values of {@link logActions}. */
export type ActionValues = Values<typeof logActions>
