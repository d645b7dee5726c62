import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithChromium, openPage, startChromium } from '../setup/chromium.ts'
import { startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'
import { patient } from '../setup/patience.ts'
import { expectAccessible, tabStops } from './accessibility.ts'

const phone = { width: 320, height: 640 }

describeWithChromium('the page at /docs', () => {
  let browser: Browser | undefined
  let service: StartedStandalone | undefined
  let page: Page

  beforeAll(async () => {
    browser = await startChromium()
    service = await startStandalone([])
    page = await browser.newPage()
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
    await page.setViewport(phone)
    await openPage(page, `${service.api}/docs`)
    await page.waitForSelector('.opblock-tag', { timeout: patient(30_000) })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop('SIGTERM')
  })

  it('the page at /docs uses the colour scheme of the device', async () => {
    const lightness = () =>
      page.evaluate(() => {
        const [red = 0] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g) ?? []
        return Number(red)
      })
    const isDark = () => page.$eval('html', (html) => html.classList.contains('dark-mode'))
    expect(await lightness()).toBeLessThan(64)
    expect(await isDark()).toBe(true)
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
    await expect.poll(isDark, { timeout: patient(10_000) }).toBe(false)
  })

  it('the page at /docs has enough contrast, a name for everything, and fits 320 pixels', async () => {
    await expectAccessible(page)
  })

  it('the Tab key reaches every control at /docs, and shows where it is', async () => {
    const { reached, wanted } = await tabStops(page)
    expect(wanted.length).toBeGreaterThan(20)
    expect(reached).toEqual(wanted)
  })

  it('the page of the state service has enough contrast, a name for everything, and fits 320 pixels', async () => {
    const [, address] = /^ *state +(\S+),/m.exec(service!.output())!
    await openPage(page, address)
    await page.waitForSelector('.opblock-tag', { timeout: patient(30_000) })
    await expectAccessible(page)
  })

  it('"Try it out" at /docs has enough contrast, and shows all of the longest list', async () => {
    await openPage(page, `${service!.api}/docs?#/assets:%20assets/getAssetsV1Assets`)
    await page.waitForSelector('.try-out button', { timeout: patient(30_000) })
    await page.click('.try-out button')
    const lengthOf = () => page.$$eval('.live-responses-table pre', ([pre]) => pre?.textContent.length ?? 0)
    const askFor = async (limit: string): Promise<void> => {
      await page.click('[data-param-name=limit] input', { count: 3 })
      await page.keyboard.type(limit)
      await page.click('.execute')
    }
    await askFor('1')
    await expect.poll(lengthOf, { timeout: patient(30_000) }).toBeGreaterThan(100)
    // A pseudo element underlines the title: axe-core cannot tell on which ground its text stands.
    await expectAccessible(page, ['.opblock-title'])
    await page.click('.btn-clear')
    const started = performance.now()
    await askFor('1000')
    await expect.poll(lengthOf, { timeout: patient(30_000), interval: 20 }).toBeGreaterThan(1_000_000)
    // The next picture contains it.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
    console.log(`the longest list is shown after ${Math.round(performance.now() - started)} ms`)
    const shown = await page.$$eval('.live-responses-table pre', ([pre]) => pre?.textContent ?? '')
    expect((JSON.parse(shown) as { data: unknown[] }).data.length).toBeGreaterThan(400)
  })
})
