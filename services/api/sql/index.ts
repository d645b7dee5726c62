export type { Statement, SqlValue } from './statement.ts'
export {
  PreparedNames,
  sql,
  Sql,
  raw,
  bind,
  joinSql,
  where,
  allOf,
  anyOf,
  bindIds,
  bindIntegers,
} from './sql.ts'
