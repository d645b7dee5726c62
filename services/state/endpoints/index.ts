import { abi, binToJson } from './abi.ts'
import { issue } from './auth.ts'
import { blockIdByTime } from './blocks.ts'
import type { AnyEndpoint } from './endpoint.ts'
import { keyAccounts, permissionLinks } from './permissions.ts'
import { tableRow, tableRows, tableScopes, tablesForAccounts, tablesForScopes } from './rows.ts'

export type { AnyEndpoint, BodyKind, Endpoint, StateParts } from './endpoint.ts'
export { readParameters } from './parameter.ts'
export type { Parameter, Schema } from './parameter.ts'

/** Every endpoint of the service. */
export const endpoints: readonly AnyEndpoint[] = [
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
