import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { apiConfig, quiet } from '../api/server.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const notFound = { success: false, message: 'Endpoint not found' }

let database: TestDatabase
let api: RunningApi
beforeAll(async () => {
  database = await createTestDatabase()
  const config = apiConfig(database.address, { provider_name: 'Example', server_name: 'nft.example' })
  api = await startApi({ config, logger: quiet })
})
afterAll(async () => {
  await api.close()
  await database.drop()
})

function getAs(accept: string | undefined, method = 'GET'): Promise<Response> {
  // Without an `Accept` header in the options, `fetch` sends `Accept: */*`.
  return fetch(`${api.url}/`, { method, headers: accept === undefined ? {} : { accept } })
}

describe('the path /', () => {
  it('the path / returns the console to browsers', async () => {
    const answer = await getAs(BROWSER)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await answer.text()).toMatch(/^<!doctype html>/)
    expect(answer.headers.get('vary')).toContain('Accept')
    expect((await getAs('text/html', 'HEAD')).status).toBe(200)
  })

  it('the path / returns 404 to clients that do not accept HTML, as the replaced system does', async () => {
    for (const accept of [
      undefined,
      '*/*',
      'application/json',
      'application/json, text/plain, */*',
      'image/png',
    ]) {
      const answer = await getAs(accept)
      expect([accept, answer.status, await answer.json()]).toEqual([accept, 404, notFound])
      expect(answer.headers.get('vary')).toContain('Accept')
    }
    expect((await getAs(BROWSER, 'POST')).status).toBe(404)
  })
})

describe('the console page', () => {
  it('the console page has a Content-Security-Policy that allows only this server and no inline script', async () => {
    const answer = await getAs(BROWSER)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|data:|\*/)
    const text = await answer.text()
    expect(text).not.toMatch(/<style|style=|\son[a-z]+=|<script(?![^>]*src=)|https?:/)
  })

  it('every file that the console page loads, directly or indirectly, exists', async () => {
    const seen = new Set<string>()
    const waiting = [
      ...(await (await getAs(BROWSER)).text()).matchAll(/(?:src|href)="(status\/[^"]+)"/g),
    ].map(([, path]) => path!)
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      const answer = await fetch(`${api.url}/${path}`)
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      const text = await answer.text()
      for (const [, name] of text.matchAll(/from '\.\/([^']+)'/g)) waiting.push(`status/${name!}`)
    }
    // The page loads every file of its folder, except tests and the configuration of the compiler.
    const files = readdirSync(join(packageRoot, 'services/api/console/page')).filter(
      (name) => !/\.test\.ts$|^tsconfig|^index\.html$/.test(name),
    )
    expect([...seen].sort()).toEqual(
      [...files, 'uplot.css', 'uplot.js'].map((name) => `status/${name}`).sort(),
    )
  })

  it('no script of the console page writes HTML', () => {
    const folder = join(packageRoot, 'services/api/console/page')
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.js'))) {
      const text = readFileSync(join(folder, name), 'utf8')
      expect([name, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/.exec(text)]).toEqual([
        name,
        null,
      ])
    }
  })
})

describe('the console data', () => {
  const data = async (query = ''): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${api.url}/status/data.json${query}`)
    return { status: answer.status, text: await answer.text() }
  }

  it('the console data contain the table sizes once the sizes are measured, and no address or login of the database', async () => {
    await expect
      .poll(async () => (JSON.parse((await data()).text) as { data: { database: unknown } }).data.database)
      .toMatchObject({
        tables: expect.arrayContaining([expect.objectContaining({ name: 'assets' })]) as unknown,
      })
    const { text } = await data()
    expect(JSON.parse(text)).toMatchObject({
      success: true,
      data: {
        provider: { name: 'Example' },
        readers: [],
        health: { status: 'unhealthy', database: 'up' },
        namespaces: [{ name: 'assets', account: 'atomicassets', paths: ['/assets', '/atomicassets'] }],
      },
    })
    const { host, port, user, database: name, password } = database.address
    for (const secret of [host, `"${port}"`, `:${port}`, `"${user}"`, name, '127.0.0.1']) {
      expect(text).not.toContain(secret)
    }
    if (password !== '') expect(text).not.toContain(password)
  })

  it('the endpoint of the console data accepts the time ranges of the charts, and refuses other values of the parameter history', async () => {
    expect((await data('?history=day')).status).toBe(200)
    for (const query of ['?history=year', '?history=', '?history=day&history=day']) {
      expect(await data(query)).toEqual({
        status: 400,
        text: '{"success":false,"message":"Invalid value for parameter history"}',
      })
    }
  })
})

it('the console and the console data return 404 if the setting console is false', async () => {
  const off = await startApi({ config: apiConfig(database.address, { console: false }), logger: quiet })
  try {
    for (const path of ['/', '/status/data.json', '/status/main.js']) {
      const answer = await fetch(off.url + path, { headers: { accept: BROWSER } })
      expect([path, answer.status, await answer.json()]).toEqual([path, 404, notFound])
    }
  } finally {
    await off.close()
  }
})
