/** Login roles of the services. `secret` names the secret with the password of the role. */
export const serviceLogins = [
  { role: 'pronghorn_filler', secret: 'filler' },
  { role: 'pronghorn_api', secret: 'api' },
  { role: 'pronghorn_state', secret: 'state' },
  { role: 'pronghorn_graphql', secret: 'graphql' },
  { role: 'pronghorn_hasura', secret: 'hasura' },
] as const

/** Role that reads the views over SQL. The role exists only after an operator has asked for it. */
export const SQL_READER = 'pronghorn_sql'

/**
 * Roles whose rights and passwords the appliance sets. A role that the operator creates needs a name outside of this
 * list.
 */
export const serviceRoles: readonly string[] = [...serviceLogins.map(({ role }) => role), SQL_READER]
