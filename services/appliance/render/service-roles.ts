/** Login roles of the services. `secret` names the secret with the password of the role. */
export const serviceLogins = [
  { role: 'pronghorn_filler', secret: 'filler' },
  { role: 'pronghorn_api', secret: 'api' },
  { role: 'pronghorn_state', secret: 'state' },
  { role: 'pronghorn_graphql', secret: 'graphql' },
  { role: 'pronghorn_hasura', secret: 'hasura' },
] as const

/** Role that reads the views over SQL; it exists once an operator has asked for it. */
export const SQL_READER = 'pronghorn_sql'

/** Roles whose rights and passwords the appliance sets: no role of an operator may have the name of one. */
export const serviceRoles: readonly string[] = [...serviceLogins.map(({ role }) => role), SQL_READER]
