import { Validator } from '@seriousme/openapi-schema-validator'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPackageVersion } from '../../services/core/paths/index.ts'
import type { CrawledAnswer } from '../../scripts/compare/crawl.ts'
import { crawl } from '../../scripts/compare/crawl.ts'
import { parametersOf } from '../../scripts/compare/document.ts'
import { createAnswerCheck } from './answer-check.ts'
import { fieldsOfSeveralTypes } from './field-types.ts'
import { checkClient, generateTypes } from './typed-client.ts'
import type { OpenApiDocument } from '../../scripts/compare/document.ts'
import { serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'
import { patient } from '../setup/patience.ts'

let server: TestServer
let document: OpenApiDocument
let answers: CrawledAnswer[]
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'], { everything: true })
  document = (await (await fetch(`${server.api.url}/openapi.json`)).json()) as OpenApiDocument
  answers = await crawl(server.api.url, document)
}, patient(300_000))
afterAll(() => server.close())

describe('the OpenAPI document', () => {
  it('the OpenAPI document is valid against the schema of OpenAPI 3.1', async () => {
    const result = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    )
    expect(result).toMatchObject({ valid: true })
    expect(document.openapi).toBe('3.1.0')
  })

  it('the OpenAPI document has the title Pronghorn API and the version of the package', () => {
    expect(document.info).toMatchObject({ title: 'Pronghorn API', version: readPackageVersion() })
  })

  it('the OpenAPI document has unique operation ids and describes every tag', () => {
    const operations = Object.values(document.paths).flatMap(({ get, post }) => (post ? [get, post] : [get]))
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map(({ name }) => name)
    expect(new Set(tags).size).toBe(tags.length)
    for (const operation of operations) expect(tags).toEqual(expect.arrayContaining([...operation.tags]))
  })

  it('the OpenAPI document describes parameters with their types, ranges, values and defaults', () => {
    const parameters = parametersOf(document, document.paths['/assets/v1/assets']!.get)
    const find = (name: string) => parameters.find((parameter) => parameter.name === name)
    expect(find('limit')?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 1000, default: 100 })
    expect(find('order')?.schema).toEqual({ type: 'string', enum: ['asc', 'desc'], default: 'desc' })
    expect(find('burned')?.schema).toEqual({ type: 'boolean' })
    expect(find('template_id')).toMatchObject({
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { pattern: '^(?:-?[0-9]+|null|\\$list:.+)$' } },
    })
    expect(find('attributes')).toMatchObject({ schema: { type: 'object' }, style: 'form', explode: true })
    const one = parametersOf(document, document.paths['/assets/v1/assets/{asset_id}']!.get)
    expect(one).toMatchObject([{ name: 'asset_id', in: 'path', required: true }])
  })

  it('the OpenAPI document states the maximum length of every text and list parameter', () => {
    const find = (path: string, name: string) =>
      parametersOf(document, document.paths[path]!.get).find((parameter) => parameter.name === name)?.schema
    expect(find('/assets/v1/assets', 'search')).toMatchObject({ maxLength: 100 })
    expect(find('/assets/v1/offers', 'memo')).toMatchObject({ maxLength: 256 })
    for (const [path, { get }] of Object.entries(document.paths)) {
      for (const { name, schema } of parametersOf(document, get)) {
        const element = (schema.items ?? schema) as Record<string, unknown>
        const place = `${path} ${name}`
        if (schema.type === 'array') expect(schema.maxItems, place).toBe(10_000)
        if (element.type !== 'string' || element.enum !== undefined) continue
        expect(element.maxLength ?? element.pattern, place).toBeDefined()
      }
    }
  })

  it('the OpenAPI document declares a type for every field of every record', () => {
    expect(fieldsOfSeveralTypes(document)).toEqual([])
  })

  it('the OpenAPI document describes the routes outside the namespaces', () => {
    const outside = Object.keys(document.paths).filter((path) => !path.includes('/v'))
    expect(outside).toEqual([
      '/alive',
      '/health',
      '/healthc',
      '/seals',
      '/seals/ranges',
      '/seals/rows',
      '/timestamp',
    ])
  })

  it('the OpenAPI document has no broken or unused references', () => {
    const text = JSON.stringify(document)
    const used = new Set([...text.matchAll(/"#\/components\/(\w+\/[\w.]+)"/g)].map((match) => match[1]!))
    const there = Object.entries(document.components).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `${kind}/${name}`),
    )
    expect([...used].sort()).toEqual(there.sort())
  })
})

describe('answers checked against the OpenAPI document', () => {
  it('every answer conforms to the OpenAPI document', () => {
    const check = createAnswerCheck(document)
    const deviations = answers.flatMap(({ path, url, status, body }) => {
      const deviation = check(path, status, body)
      return deviation === undefined ? [] : [`${url}: ${deviation}`]
    })
    expect(deviations.slice(0, 20)).toEqual([])
  })

  it('every documented path has at least one checked response with content', () => {
    const full = new Set(
      answers.filter(({ status, body }) => status === 200 && hasContent(body)).map(({ path }) => path),
    )
    const paths = Object.keys(document.paths).filter((path) => path.includes('/v'))
    expect(paths.length).toBeGreaterThan(90)
    expect(paths.filter((path) => !full.has(path))).toEqual([])
  })

  it('the conformance check fails for a missing, extra or wrongly typed member', () => {
    const check = createAnswerCheck(document)
    const found = answers.find(
      ({ path, status }) => path === '/assets/v1/assets/{asset_id}' && status === 200,
    )!
    const body = found.body as { data: Record<string, unknown> }
    const { owner: _owner, ...ownerless } = body.data
    for (const data of [ownerless, { ...body.data, more: 1 }, { ...body.data, asset_id: 1 }]) {
      expect(check(found.path, 200, { ...body, data })).toBeTypeOf('string')
    }
    expect(check(found.path, 418, {})).toBe('status 418 is not documented')
  })
})

function hasContent(body: unknown): boolean {
  const { data } = body as { data: unknown }
  const rows = typeof data === 'object' && data !== null && 'results' in data ? data.results : data
  return Array.isArray(rows) ? rows.length > 0 : rows !== '0'
}

describe('the page at /docs', () => {
  /** URLs that a browser loads for a page or style sheet. */
  const references = (text: string) =>
    [...text.matchAll(/(?:src|href)="([^"]+)"|url\(([^)]+)\)|@import\s+["']([^"']+)/g)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? '',
    )

  it('the page at /docs loads only files of this server, and its Content-Security-Policy allows no others', async () => {
    const response = await fetch(`${server.api.url}/docs`)
    const page = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(policy).not.toMatch(/https?:|\*/)
    const files = references(page)
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) {
      expect(file).toMatch(/^\/(?:docs\/[\w.-]+|openapi\.json)$/)
      const answer = await fetch(server.api.url + file)
      expect([file, answer.status]).toEqual([file, 200])
      expect(answer.headers.get('content-type')).toBe(typeOf(file))
      if (!file.endsWith('.css')) continue
      for (const nested of references(await answer.text())) expect(nested).toMatch(/^["']?data:/)
    }
  })

  it('the page at /docs shows the title of the OpenAPI document', async () => {
    expect(await (await fetch(`${server.api.url}/docs`)).text()).toContain('<title>Pronghorn API</title>')
  })

  it('the page at /docs and the OpenAPI document support HEAD, entity tags and compression', async () => {
    for (const path of ['/docs', '/docs/', '/docs/swagger-ui-bundle.js', '/openapi.json']) {
      const url = server.api.url + path
      const whole = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
      const body = Buffer.from(await whole.arrayBuffer())
      const head = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } })
      expect([path, head.status, head.headers.get('content-length')]).toEqual([
        path,
        200,
        String(body.length),
      ])
      const etag = whole.headers.get('etag')!
      expect([path, await statusWith(url, { 'if-none-match': etag })]).toEqual([path, 304])
      expect([path, await statusWith(url, { 'if-none-match': 'W/"other"' })]).toEqual([path, 200])
      const zipped = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
      expect(zipped.headers.get('content-encoding')).toBe('gzip')
      expect(zipped.headers.get('vary')).toMatch(/accept-encoding/i)
      expect(Buffer.from(await zipped.arrayBuffer()).equals(body)).toBe(true)
      const brotli = await fetch(url, { headers: { 'accept-encoding': 'br' } })
      expect(brotli.headers.get('content-encoding')).toBe('br')
      expect(Buffer.from(await brotli.arrayBuffer()).equals(body)).toBe(true)
    }
  })

  it('the documentation links of all namespaces lead to the page at /docs', async () => {
    for (const path of ['/atomicassets/docs', '/assets/docs/swagger']) {
      const response = await fetch(server.api.url + path, { redirect: 'manual' })
      expect([response.status, response.headers.get('location')]).toEqual([302, '/docs'])
    }
  })

  it('paths below /docs serve no files except those of the documentation page', async () => {
    for (const file of ['index.html', 'package.json', '..%2fpackage.json', 'swagger-ui.js']) {
      expect((await fetch(`${server.api.url}/docs/${file}`)).status).toBe(404)
    }
  })
})

// Must come after all tests that send requests: compiling takes seconds, in which idle connections expire.
it(
  'a TypeScript client generated from the OpenAPI document type-checks against every answer',
  () => {
    const types = generateTypes(document)
    const samples = Object.keys(document.paths).flatMap((path) => {
      const answer = answers.find(
        (each) => each.path === path && each.status === 200 && hasContent(each.body),
      )
      return answer ? [[path, (answer.body as { data: unknown }).data] as const] : []
    })
    const use = [
      ...samples.map(
        ([path, data], at) =>
          `export const answer${at}: Answers[${JSON.stringify(path)}] = ${JSON.stringify(data)}`,
      ),
      'export const ownerOf = ({ owner }: Asset): string => owner ?? "nobody"',
      'export const sumOf = (asset: Asset): number => asset.backed_tokens.reduce((sum, { amount }) => sum + amount, 0)',
    ]
    expect(samples.length).toBeGreaterThan(90)
    const wrong = 'export const idOf = ({ asset_id }: Asset): number => asset_id'
    // One program checks both parts, because each program parses the library of the language again.
    expect(checkClient(types, [...use, wrong])).toEqual([expect.stringContaining('export const idOf')])
  },
  patient(60_000),
)

/** Status of a GET request with exactly these headers: `fetch` would add `Accept-Encoding`. */
function statusWith(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode ?? 0)
      })
    })
    sent.on('error', reject).end()
  })
}

function typeOf(file: string): string {
  if (file.endsWith('.css')) return 'text/css; charset=utf-8'
  if (file.endsWith('.js')) return 'text/javascript; charset=utf-8'
  return file.endsWith('.png') ? 'image/png' : 'application/json; charset=utf-8'
}
