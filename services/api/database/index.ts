export { noDatabaseObserver } from './observer.ts'
export type { DatabaseObserver, QueryFacts } from './observer.ts'

export type { ProblemKind } from './problems.ts'
export type { ReplicaState, ReplicaTiming } from './replicas.ts'
export { openRequestDatabase } from './request-database.ts'
export type {
  ReplicaAddress,
  RequestDatabase,
  RequestDatabaseSettings,
  ServerState,
} from './request-database.ts'
export { Departure } from './scope.ts'
export type { WorkScope } from './scope.ts'
export type { ServerLimits, ServerLoad, Session } from './server.ts'
export type { SqlValue, Statement } from './statement.ts'
export { allOf, bind, bindIds, bindIntegers, joinSql, PreparedNames, raw, Sql, sql, where } from './sql.ts'
