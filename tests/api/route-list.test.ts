import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderEndpoints } from '../../scripts/docs/docs.ts'
import { createNamespace, startApi } from '../../services/api/index.ts'
import type { NamespaceFactory, RunningApi } from '../../services/api/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import type { OpenApiDocument } from '../../scripts/compare/document.ts'
import { apiConfig, quiet } from './server.ts'

/** Paths of a server's routes, read from the running server, its OpenAPI document and docs/endpoints.md. */
interface Routes {
  /** Paths below the namespace that do not answer "Endpoint not found". */
  readonly answering: readonly string[]
  /** Paths of the OpenAPI document, in the notation of the endpoint data. */
  readonly documented: readonly string[]
  /** Paths in `docs/endpoints.md`. */
  readonly listed: readonly string[]
}

const REMOVED = '/v1/assets/:asset_id/stats'

let database: TestDatabase
/** Paths of the endpoints that the namespace declares. */
let paths: readonly string[]
beforeAll(async () => {
  database = await createTestDatabase()
  const [entry] = apiConfig(database.address).server.namespaces
  paths = createNamespace(entry!, { trigrams: true })!.endpoints.map(({ path }) => path)
})
afterAll(() => database.drop())

/** Creates the assets namespace with one endpoint removed. */
const withoutOne: NamespaceFactory = (config, traits) => {
  const namespace = createNamespace(config, traits)
  if (!namespace) return undefined
  return { ...namespace, endpoints: namespace.endpoints.filter(({ path }) => path !== REMOVED) }
}

async function routesOf(create: NamespaceFactory): Promise<Routes> {
  const api = await startApi({ config: apiConfig(database.address), logger: quiet, createNamespace: create })
  try {
    const answering: string[] = []
    for (const path of paths) if (await isAnswered(api, path)) answering.push(path)
    const document = (await (await fetch(`${api.url}/openapi.json`)).json()) as OpenApiDocument
    const documented = Object.keys(document.paths)
      .filter((path) => path.startsWith('/assets/'))
      .map((path) => path.slice('/assets'.length).replaceAll(/\{(\w+)\}/g, ':$1'))
    const page = renderEndpoints(create)
    const section = page.slice(page.indexOf('\n## assets\n')).split('\n## ')[1]!
    const listed = [...section.matchAll(/^### `(\S+)`$/gm)].map((match) => match[1]!)
    return { answering, documented, listed }
  } finally {
    await api.close()
  }
}

async function isAnswered(api: RunningApi, path: string): Promise<boolean> {
  const response = await fetch(`${api.url}/assets${path.replaceAll(/:\w+/g, '1')}`)
  return (await response.text()) !== '{"success":false,"message":"Endpoint not found"}'
}

describe('the routes of a namespace', () => {
  it('the routes of a namespace are the same in the router, in the OpenAPI document and in docs/endpoints.md', async () => {
    const routes = await routesOf(createNamespace)
    const expected = [...paths].sort()
    expect(expected.length).toBeGreaterThan(30)
    expect([...routes.answering].sort()).toEqual(expected)
    expect([...routes.documented].sort()).toEqual(expected)
    expect([...routes.listed].sort()).toEqual(expected)
  })

  it('a route that is removed from the endpoint list disappears from router, OpenAPI document and docs/endpoints.md', async () => {
    expect(paths).toContain(REMOVED)
    const routes = await routesOf(withoutOne)
    const expected = paths.filter((path) => path !== REMOVED).sort()
    expect([...routes.answering].sort()).toEqual(expected)
    expect([...routes.documented].sort()).toEqual(expected)
    expect([...routes.listed].sort()).toEqual(expected)
  })
})
