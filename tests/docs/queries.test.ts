import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { apiConfig, ask, quiet } from '../api/server.ts'
import { patient } from '../setup/patience.ts'
import { createRecordedDatabase } from '../graphql/recorded-database.ts'
import type { RecordedDatabase } from '../graphql/recorded-database.ts'

const text = readFileSync(join(packageRoot, 'docs/queries.md'), 'utf8')
const queries = [
  ...text.matchAll(/^## (.+)\n(?:(?!^## )[^])*?```sh\ncurl -s "\$API(.+)"\n```\n\n```json\n([^]*?)```/gm),
].map(([, title, path, json]) => ({ title: title!, path: path!, json: json! }))

const snippets = [...text.matchAll(/```js\n([^]*?)```\n\n```text\n([^]*?)```/g)].map(
  ([, source, printed]) => ({
    source: source!,
    printed: printed!,
  }),
)

describe('docs/queries.md', () => {
  let database: RecordedDatabase
  let api: RunningApi

  beforeAll(async () => {
    database = await createRecordedDatabase()
    const namespaces = [
      { name: 'assets', path: '/atomicassets', args: { assets_account: 'atomicassets' } },
      { name: 'market', path: '/atomicmarket', args: { market_account: 'atomicmarket' } },
    ]
    api = await startApi({ config: apiConfig(database.address, { namespaces }), logger: quiet })
  })
  afterAll(async () => {
    await api.close()
    await database.drop()
  })

  it('docs/queries.md has at least twenty queries', () => {
    expect(queries.length).toBeGreaterThanOrEqual(20)
    expect(text.match(/```sh/g)).toHaveLength(queries.length)
    expect(text.match(/```js\n/g)).toHaveLength(snippets.length)
  })

  it.each(snippets)(
    'snippet %#: prints the output that docs/queries.md shows',
    async ({ source, printed }) => {
      const args = ['--input-type=module', '--eval', source]
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        env: { API: api.url },
        timeout: patient(20_000),
      })
      expect(stdout).toBe(printed)
    },
  )

  it.each(queries)('$title: returns the answer that docs/queries.md shows', async ({ path, json }) => {
    const { status, body } = await ask(`${api.url}${path}`)
    expect([status, body.success]).toEqual([200, true])
    expect(body).toMatchObject(JSON.parse(json) as object)
  })
})
