import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'
import { createRecordedDatabase } from '../graphql/recorded-database.ts'
import type { RecordedDatabase } from '../graphql/recorded-database.ts'

const text = readFileSync(join(packageRoot, 'docs/sql.md'), 'utf8')
const queries = [
  ...text.matchAll(
    /^### (.+)\n(?:(?!^### )[^])*?```sql\n([^]+?)```\n\n```json\n([^]*?)```(?:\n\nPlan: `(.+)`)?/gm,
  ),
].map(([, title, sql, json, plan]) => ({ title: title!, sql: sql!, json: json!, plan }))

describe('docs/sql.md', () => {
  let database: RecordedDatabase

  beforeAll(async () => {
    database = await createRecordedDatabase()
    // The tables of the recorded chain are so small that the planner would choose sequential scans.
    await database.client.query('SET enable_seqscan = off')
  })
  afterAll(() => database.drop())

  it('docs/sql.md has at least ten queries, each with its rows', () => {
    expect(queries.length).toBeGreaterThanOrEqual(10)
    expect(text.match(/^### /gm)).toHaveLength(queries.length)
  })

  it.each(queries)('$title: returns the rows of docs/sql.md with the named query plan', async (query) => {
    const { rows } = await database.client.query<object>(query.sql)
    const printed = JSON.stringify(rows, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(JSON.parse(printed)).toMatchObject(JSON.parse(query.json) as object[])
    if (query.plan === undefined) return
    const plan = await database.client.query<Record<string, string>>(`EXPLAIN ${query.sql}`)
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(query.plan)
  })
})
