import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageRoot } from '../core/paths/index.ts'
import { createDevchain } from './devchain.ts'

const fixtures = join(packageRoot, 'tests/fixtures/recordings')

/** `{scope: {count, payer, rows}}`, as recorded from the original chain. */
type TableFile = Record<string, { count: number; rows: { payer: string; data: unknown; hex: string }[] }>

interface RowsAnswer {
  readonly rows: { data: unknown; payer: string }[]
  readonly more: boolean
  readonly next_key: string
}

async function ask<T>(httpUrl: string, request: string, body: unknown): Promise<T> {
  const response = await fetch(`${httpUrl}/v1/chain/${request}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as T
}

/** Reads every row of a table in pages of 40. */
async function allRows(httpUrl: string, query: object): Promise<RowsAnswer['rows']> {
  const rows: RowsAnswer['rows'] = []
  let lower = ''
  for (;;) {
    const page = await ask<RowsAnswer>(httpUrl, 'get_table_rows', {
      ...query,
      limit: 40,
      show_payer: true,
      lower_bound: lower,
    })
    rows.push(...page.rows)
    if (!page.more) return rows
    lower = page.next_key
  }
}

describe.each([
  ['main', ['main']],
  ['v2', ['main', 'v2']],
  ['fork', [join(fixtures, 'fork')]],
])('after a replay of recording %s', (name, recordings) => {
  const folder = join(fixtures, name, 'tables')
  const files = readdirSync(folder).filter((file) => !file.endsWith('.abi.json'))

  test('the chain API returns the same rows of every table as the recorded node', async () => {
    const devchain = createDevchain({ recordings })
    const { httpUrl } = await devchain.start()
    for (const file of files) {
      const [code, table] = splitName(file)
      const expected = JSON.parse(readFileSync(join(folder, file), 'utf8')) as TableFile
      const scopes = await ask<{ rows: { scope: string; count: number }[] }>(httpUrl, 'get_table_by_scope', {
        code,
        table,
        limit: 1000,
      })
      const withRows = Object.entries(expected).filter(([, { rows }]) => rows.length > 0)
      const sizes = withRows.map(([scope, { rows }]) => [scope, rows.length])
      expect(Object.fromEntries(scopes.rows.map(({ scope, count }) => [scope, count]))).toEqual(
        Object.fromEntries(sizes),
      )
      for (const [scope, { rows }] of withRows) {
        const decoded = await allRows(httpUrl, { code, table, scope, json: true })
        const packed = await allRows(httpUrl, { code, table, scope, json: false })
        expect(decoded).toEqual(rows.map(({ payer, data }) => ({ data, payer })))
        expect(packed).toEqual(rows.map(({ payer, hex }) => ({ data: hex, payer })))
      }
    }
    await devchain.stop()
  })

  test('every account has the ABI that the recorded node had', async () => {
    const devchain = createDevchain({ recordings })
    const { httpUrl } = await devchain.start()
    for (const file of readdirSync(folder).filter((each) => each.endsWith('.abi.json'))) {
      const account = file.slice(0, -'.abi.json'.length)
      const expected = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { structs: unknown }
      const answer = await ask<{ abi: { structs: unknown } }>(httpUrl, 'get_abi', { account_name: account })
      expect(answer.abi.structs).toEqual(
        (expected as { abi?: typeof expected }).abi?.structs ?? expected.structs,
      )
    }
    await devchain.stop()
  })
})

function splitName(file: string): [string, string] {
  const parts = file.slice(0, -'.json'.length).split('.')
  return [parts.slice(0, -1).join('.'), parts.at(-1)!]
}
