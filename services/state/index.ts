export { startState } from './start.ts'
export type { RunningState } from './start.ts'
export { createApiKey, listApiKeys, revokeApiKey, rotateSigningKey } from './access/index.ts'
export type { ApiKey, Queryable } from './access/index.ts'
