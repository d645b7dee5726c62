export { createApiKey, listApiKeys, revokeApiKey, rotateSigningKey } from './access/index.ts'
export type { ApiKey, NewApiKey, Queryable } from './access/index.ts'

export type { Endpoint } from './endpoints/index.ts'
export { startState } from './start.ts'
export type { RunningState, StateOptions } from './start.ts'
