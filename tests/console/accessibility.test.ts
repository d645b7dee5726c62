import type { Browser, Page, SerializedAXNode } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWithChromium, openPage, startChromium } from '../setup/chromium.ts'
import { startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'
import { patient } from '../setup/patience.ts'
import { expectAccessible, tabStops } from './accessibility.ts'

const phone = { width: 320, height: 640 }
const patience = { timeout: patient(60_000), interval: 100 }

describeWithChromium('the pages of the demo chain', () => {
  let browser: Browser | undefined
  let service: StartedStandalone | undefined

  beforeAll(async () => {
    browser = await startChromium()
    service = await startStandalone([])
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop('SIGTERM')
  })

  describe('the page at /docs', () => {
    let page: Page

    beforeAll(async () => {
      page = await browser!.newPage()
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
      await page.setViewport(phone)
      await openPage(page, `${service!.api}/docs`)
      await page.waitForSelector('.opblock-tag', { timeout: patient(30_000) })
    })
    afterAll(() => page.close())

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

    it('the page at /docs has enough contrast and a name for every control, and fits a screen of 320 pixels', async () => {
      await expectAccessible(page)
    })

    it('the Tab key reaches every control at /docs, with a visible focus', async () => {
      const { reached, wanted } = await tabStops(page)
      expect(wanted.length).toBeGreaterThan(20)
      expect(reached).toEqual(wanted)
    })

    it('the page of the state service has enough contrast and a name for every control, and fits a screen of 320 pixels', async () => {
      const [, address] = /^ *state +(\S+),/m.exec(service!.output())!
      await openPage(page, address)
      await page.waitForSelector('.opblock-tag', { timeout: patient(30_000) })
      await expectAccessible(page)
    })

    it('"Try it out" at /docs has enough contrast, and shows the complete response of a list of 1000 records', async () => {
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
      // A pseudo-element underlines the title, so axe-core cannot determine the background of the title's text.
      await expectAccessible(page, ['.opblock-title'])
      await page.click('.btn-clear')
      const started = performance.now()
      await askFor('1000')
      await expect.poll(lengthOf, { timeout: patient(30_000), interval: 20 }).toBeGreaterThan(1_000_000)
      // The browser paints the list with the next frame.
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
      console.log(`the longest list is shown after ${Math.round(performance.now() - started)} ms`)
      const shown = await page.$$eval('.live-responses-table pre', ([pre]) => pre?.textContent ?? '')
      expect((JSON.parse(shown) as { data: unknown[] }).data.length).toBeGreaterThan(400)
    })
  })

  describe('accessibility of the console page', () => {
    let page: Page

    beforeAll(async () => {
      page = await browser!.newPage()
      await openPage(page, `${service!.api}/`)
    })

    it('the console page has enough contrast and a name for every control, and fits a screen of 320 pixels', async () => {
      await expect.poll(() => page.$$eval('.state', ([state]) => state?.textContent), patience).toBe('live')
      await expect.poll(() => page.$$eval('#events li', (rows) => rows.length), patience).toBeGreaterThan(2)
      await page.click('#sizes-more')
      await expectAccessible(page)
      await page.click('#sizes-more')
    })

    it('the Tab key reaches every control of the console page in document order, with a visible focus', async () => {
      await page.click('#events-pause')
      const { reached, wanted } = await tabStops(page)
      expect(wanted.length).toBeGreaterThan(15)
      expect(reached).toEqual(wanted)
      await page.click('#events-pause')
    })

    it('a screen reader announces health and problems, but no constantly changing text', async () => {
      const live = await page.$$eval('[aria-live], [role=status], [role=alert], [role=log]', (all) =>
        all.map((each) => [each.id, each.getAttribute('role') ?? each.getAttribute('aria-live')]),
      )
      // The live region without an id announces the chart point that the user selects with the arrow keys.
      expect(live).toEqual([
        ['health-chip', 'status'],
        ['notice-text', 'alert'],
        ['', 'polite'],
      ])
      const places = namesOf((await page.accessibility.snapshot({ interestingOnly: false }))!)
      expect(places).toEqual(
        expect.arrayContaining(['banner', 'main', 'contentinfo', 'navigation Documentation']),
      )
      const regions = ['Summary', 'Indexing', 'Live events', 'Database by table', 'Served namespaces']
      expect(places.filter((place) => place.startsWith('region '))).toEqual(
        regions.map((name) => `region ${name}`),
      )
    })

    it('the console page has enough contrast while it shows outdated data', async () => {
      await service?.stop('SIGTERM')
      await expect
        .poll(() => page.$eval('#notice', (notice) => notice.textContent), patience)
        .toContain('The api does not answer')
      await expectAccessible(page)
    })
  })
})

/** Role and name of every node of an accessibility tree, as a screen reader announces them. */
function namesOf({ role, name = '', children = [] }: SerializedAXNode): string[] {
  return [`${role} ${name}`.trim(), ...children.flatMap(namesOf)]
}
