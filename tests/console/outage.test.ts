import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { apiConfig, quiet } from '../api/server.ts'
import { describeWithChromium, keepPicture, openPage, startChromium } from '../setup/chromium.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { Wire } from '../setup/wire.ts'
import { patient } from '../setup/patience.ts'

const patience = { timeout: patient(60_000), interval: 100 }

describeWithChromium('the console page during failures', () => {
  let browser: Browser | undefined
  let page: Page
  let database: TestDatabase
  let wire: Wire
  let api: RunningApi

  beforeAll(async () => {
    browser = await startChromium()
    page = await browser.newPage()
    database = await createTestDatabase()
    wire = new Wire(database.address)
    await wire.open()
    api = await startApi({ config: apiConfig(wire.address), logger: quiet })
  })
  afterAll(async () => {
    await browser?.close()
    await api.close()
    await wire.cut()
    await database.drop()
  })

  const textOf = (selector: string): Promise<string> =>
    page.$eval(selector, (element) => (element as HTMLElement).innerText)
  const isShown = (selector: string): Promise<boolean> =>
    page.$eval(selector, (element) => (element as HTMLElement).offsetHeight > 0)

  it('the console page says that nothing is indexed yet, and that there are no live events', async () => {
    await openPage(page, `${api.url}/`)
    await expect
      .poll(() => textOf('#readers-empty'), patience)
      .toContain('No reader has committed a block yet')
    expect(await textOf('#events-note')).toBe('Live events are not available.')
    expect(await textOf('#health-chip')).toBe('Catching up')
    expect(await isShown('#demo')).toBe(true)
    await expect.poll(() => textOf('#tile-database'), patience).toMatch(/^\d+ MB$/)
    expect(await isShown('#notice')).toBe(false)
  })

  it('while the database is unavailable, the console page says so and keeps the last data; afterwards the message disappears', async () => {
    await wire.cut()
    await expect.poll(() => textOf('#notice'), patience).toContain('The database is unavailable')
    expect(await textOf('#tile-health-note')).toContain('The database is unavailable')
    expect(await textOf('#tile-database')).toMatch(/^\d+ MB$/)
    await keepPicture(page, 'console-database-unavailable')
    await wire.open()
    await expect.poll(() => isShown('#notice'), patience).toBe(false)
  })

  it('the console page distinguishes a failing server from a server that does not answer', async () => {
    let answer: { status: number; contentType: string; body: string } | 'none' | undefined
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (answer === undefined || !request.url().includes('data.json')) void request.continue()
      else if (answer === 'none') void request.abort('connectionrefused')
      else void request.respond(answer)
    })
    const json = 'application/json'
    answer = { status: 500, contentType: json, body: '{"success":false,"message":"Internal Server Error"}' }
    await expect.poll(() => textOf('#notice'), patience).toContain('answered with an error (status 500)')
    answer = { status: 200, contentType: json, body: '{"success":true,"data":{"version":"9"}}' }
    await page.click('#notice-action')
    await expect.poll(() => textOf('#notice'), patience).toContain('was updated')
    expect(await textOf('#notice-action')).toBe('Reload')
    answer = 'none'
    await expect.poll(() => textOf('#notice'), patience).toContain('does not answer')
    answer = { status: 503, contentType: json, body: '{"success":false,"message":"starting or unavailable"}' }
    await page.click('#notice-action')
    await expect.poll(() => textOf('#notice'), patience).toContain('does not answer')
    answer = undefined
    // The page also retries by itself, so the notice may disappear before a mouse click reaches the button.
    await page.$eval('#notice-action', (button) => (button as HTMLElement).click())
    await expect.poll(() => isShown('#notice'), patience).toBe(false)
  })

  it('the console page says that live events are not available if the event stream is missing, and shows no problem', async () => {
    const body = JSON.stringify({
      success: true,
      data: {
        ...((await (await fetch(`${api.url}/status/data.json`)).json()) as { data: object }).data,
        namespaces: [{ name: 'assets', account: 'a', paths: ['/assets'], events: '/assets/v1/none' }],
      },
    })
    page.removeAllListeners('request')
    page.on('request', (request) => {
      if (request.url().includes('data.json')) void request.respond({ contentType: 'application/json', body })
      else void request.continue()
    })
    await openPage(page)
    await expect.poll(() => textOf('#events-note'), patience).toBe('Live events are not available.')
    expect(await isShown('#notice')).toBe(false)
  })
})
