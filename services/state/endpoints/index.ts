import { abi, binToJson } from './abi.ts'
import { issue } from './auth.ts'
import { blockIdByTime } from './blocks.ts'
import type { Endpoint } from './endpoint.ts'
import { keyAccounts, permissionLinks } from './permissions.ts'
import { tableRow, tableRows, tableScopes, tablesForAccounts, tablesForScopes } from './rows.ts'
export { MAX_HEX_ROWS } from './parameter.ts'
export type { StateParts, Endpoint, BodyKind } from './endpoint.ts'

/** All endpoints of the state service. */
export const endpoints: readonly Endpoint[] = [
  issue,
  abi,
  binToJson,
  tableRows,
  tableRow,
  tableScopes,
  tablesForAccounts,
  tablesForScopes,
  permissionLinks,
  keyAccounts,
  blockIdByTime,
]
