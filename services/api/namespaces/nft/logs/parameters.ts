import { texts } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import { paging, sortOrder } from '../paging/index.ts'

/** `action_whitelist`, `action_blacklist`. */
const logActions = {
  action_whitelist: texts('Only these actions; unknown names are ignored.'),
  action_blacklist: texts('Not these actions.'),
}

/** Parameters of the logs of something. */
export function logParameters(limit: number) {
  return { ...paging(limit), ...sortOrder('asc'), ...logActions }
}

/** What {@link logParameters} become. */
export type LogValues = Values<ReturnType<typeof logParameters>>

/** What {@link logActions} become. */
export type ActionValues = Values<typeof logActions>
