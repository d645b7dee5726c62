import { statSync } from 'node:fs'
import type { Browser, Page, SerializedAXNode } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  describeWithChromium,
  keepPicture,
  openPage,
  startChromium,
  watchConduct,
} from '../setup/chromium.ts'
import type { PageConduct } from '../setup/chromium.ts'
import { startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'
import { patient } from '../setup/patience.ts'
import { expectAccessible, tabStops } from './accessibility.ts'

/** Last of the recorded blocks; the demo chain continues after it. */
const LAST_RECORDED = 964
const phone = { width: 320, height: 640 }
const patience = { timeout: patient(60_000), interval: 100 }

describeWithChromium('the pages of the demo chain', () => {
  let browser: Browser | undefined
  let service: StartedStandalone
  /** Page of the current group of tests. */
  let page: Page

  beforeAll(async () => {
    browser = await startChromium()
    service = await startStandalone([])
  })
  afterAll(async () => {
    await browser?.close()
    await service.stop('SIGTERM')
  })

  /** Opens an empty page with a storage of its own, so that settings of an earlier page do not apply. */
  const newPage = async (): Promise<Page> => (await browser!.createBrowserContext()).newPage()

  const textOf = (selector: string): Promise<string> =>
    page.$eval(selector, (element) => (element as HTMLElement).innerText)
  const numberOf = async (selector: string): Promise<number> =>
    Number((await textOf(selector)).replaceAll(',', ''))
  /** Returns the value next to a name in the lists of facts on the console page. */
  const factOf = (name: string): Promise<string> =>
    page.$$eval(
      '.facts > div',
      (facts, wanted) =>
        facts
          .map((fact) => (fact as HTMLElement).innerText.split('\n'))
          .find(([title]) => title === wanted)?.[1] ?? '',
      name,
    )
  const isShown = (selector: string): Promise<boolean> =>
    page.$eval(selector, (element) => (element as HTMLElement).offsetHeight > 0)

  describe('the console page, while the demo chain is indexed', () => {
    let conduct: PageConduct

    beforeAll(async () => {
      page = await newPage()
      await page.setViewport({ width: 1280, height: 900 })
      conduct = watchConduct(page)
      await openPage(page, `${service.api}/`)
    })
    afterAll(() => page.close())

    it("the console page shows what is indexed, and the reader's progress to the head", async () => {
      await expect
        .poll(() => page.$eval('main', (main) => main.getAttribute('aria-busy')), patience)
        .toBe('false')
      await keepPicture(page, 'console-start')
      expect(await page.title()).toBe('Pronghorn: demo chain')
      expect(await textOf('#demo')).toContain('demo chain')
      await expect.poll(() => textOf('#readers'), patience).toContain('standalone-1')
      await expect.poll(() => textOf('.state'), patience).toBe('live')
      await expect.poll(() => textOf('#health-chip'), patience).toBe('Healthy')
      for (const contract of [
        'assets atomicassets',
        'market atomicmarket',
        'oracle delphioracle',
        'tools atomictoolsx',
      ]) {
        expect(await textOf('#readers')).toContain(contract)
      }
      const block = Number((await factOf('Block')).replace(',', ''))
      expect(block).toBeGreaterThan(LAST_RECORDED)
      const progress = () => page.$eval('.progress', (bar) => bar.getAttribute('aria-valuenow'))
      await expect.poll(progress, patience).toBe('100.0')
      await expect
        .poll(async () => Number((await factOf('Block')).replace(',', '')), patience)
        .toBeGreaterThan(block)
      expect(await numberOf('#tile-head')).toBeGreaterThan(LAST_RECORDED)
      await expect.poll(() => textOf('#tile-lag-note'), patience).toBe('At the head')
      const link = () => page.$eval('#state-link', (a) => (a as HTMLAnchorElement).href)
      expect((await fetch(await link())).status).toBe(200)
      expect(await isShown('#notice')).toBe(false)
    })

    it('the console page draws the indexing speed as a chart, usable with the keyboard', async () => {
      const summary = /^Blocks per second, last 10 minutes: [\d.,]+ on average, ([\d,.]+) at most$/
      await expect.poll(() => textOf('figcaption span'), patience).toMatch(summary)
      // The recorded blocks are indexed in the first seconds. Afterwards the chain produces two blocks a second.
      const most = Number(summary.exec(await textOf('figcaption span'))![1]!.replace(',', ''))
      expect(most).toBeGreaterThan(10)
      await expect
        .poll(
          () =>
            page.$eval('.chart canvas', (element) => {
              const canvas = element
              const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
              return data.some((value) => value !== 0)
            }),
          patience,
        )
        .toBe(true)
      await page.focus('.chart-box')
      await page.keyboard.press('ArrowLeft')
      await expect.poll(() => textOf('figcaption'), patience).toMatch(/[\d.,]+ blocks\/s at \d\d:\d\d:\d\d/)
      await page.click('[data-range=day]')
      await expect.poll(() => textOf('figcaption span'), patience).toContain('last 24 hours')
      await page.click('[data-range=recent]')
      await expect.poll(() => textOf('figcaption span'), patience).toContain('last 10 minutes')
    })

    it('the console page shows the size of every table', async () => {
      await expect.poll(() => textOf('#tile-database'), patience).toMatch(/^\d+ MB$/)
      const tables = Number(/^(\d+) tables$/.exec(await textOf('#tile-database-note'))![1])
      expect(await page.$$eval('#sizes-body tr:not(.bar)', (rows) => rows.length)).toBe(10)
      await page.click('#sizes-more')
      const rows = await page.$$eval('#sizes-body tr:not(.bar)', (all) =>
        all.map((row) => (row as HTMLElement).innerText.split('\t')),
      )
      expect(rows).toHaveLength(tables)
      const assets = rows.find(([name]) => name === 'assets.assets')
      expect(assets?.[2]).toMatch(/^\d+(\.\d)? (kB|MB)$/)
      // The console page adds the size of each partition to the size of its table.
      expect(rows.map(([name]) => name)).toContain('assets.logs')
      expect(rows.filter(([name]) => /_\d+$/.test(name ?? ''))).toEqual([])
      await page.click('#sizes-more')
    })

    it('the console page shows live events, and pauses', async () => {
      await expect.poll(() => page.$$eval('#events li', (rows) => rows.length), patience).toBeGreaterThan(2)
      const [first] = await page.$$eval('#events li', (rows) => rows.map((row) => row.innerText.split('\n')))
      expect(first?.[0]).toMatch(/^[A-Z][a-z ]+$/)
      const block = Number(/^block ([\d,]+)$/.exec(first?.[1] ?? '')?.[1]?.replaceAll(',', ''))
      expect(block).toBeGreaterThan(LAST_RECORDED)
      await page.click('#events-pause')
      const held = await textOf('#events')
      await expect.poll(() => textOf('#events-pause'), patience).toMatch(/^Resume \(\d+ new\)$/)
      expect(await textOf('#events')).toBe(held)
      await page.click('#events-pause')
      await expect.poll(() => textOf('#events'), patience).not.toBe(held)
      expect(await textOf('#events-pause')).toBe('Pause')
      await page.click('#events-choice button:last-child')
      await expect
        .poll(() =>
          page.$$eval('#events-choice [aria-pressed=true]', (all) => all.map((each) => each.textContent)),
        )
        .toEqual(['tools'])
    })

    it('the console page links to documents and endpoints that all exist', async () => {
      const links = await page.$$eval('.links a, .served a', (all) => all.map((link) => link.href))
      expect(links.map((link) => new URL(link).pathname)).toEqual(
        expect.arrayContaining([
          '/docs',
          '/openapi.json',
          '/health',
          '/assets/v1/config',
          '/tools/v1/config',
        ]),
      )
      for (const link of links) {
        // The generated chain deploys its last contract some blocks after the recorded blocks.
        await expect.poll(async () => [link, (await fetch(link)).status], patience).toEqual([link, 200])
      }
    })

    it('the console page uses the colour scheme of the device, or the colour scheme that the user selected', async () => {
      const ground = (): Promise<string> =>
        page.$eval('body', (body) => getComputedStyle(body).backgroundColor)
      const setDevice = (value: string) =>
        page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])
      await setDevice('light')
      const light = await ground()
      await keepPicture(page, 'console-light')
      await setDevice('dark')
      const dark = await ground()
      await keepPicture(page, 'console-dark')
      expect(dark).not.toBe(light)
      await page.click('#theme')
      expect([
        await ground(),
        await page.$eval('#theme', (button) => button.getAttribute('aria-label')),
      ]).toEqual([light, 'Colours: light'])
      await openPage(page)
      expect(await ground()).toBe(light)
      await page.click('#theme')
      await page.click('#theme')
      expect(await ground()).toBe(dark)
      await setDevice('light')
    })

    it('the console page fits the width of a phone', async () => {
      await page.setViewport({
        width: 360,
        height: 740,
        deviceScaleFactor: 2,
        isMobile: true,
        hasTouch: true,
      })
      await expect.poll(() => page.$$eval('.state', (all) => all.length), patience).toBe(1)
      const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
      expect(widths).toEqual([360, 360])
      expect(statSync(await keepPicture(page, 'console-phone')).size).toBeGreaterThan(20_000)
      // A switch from a phone to a desktop viewport reloads the page.
      await page.setViewport({ width: 1280, height: 900 })
      await expect.poll(() => page.$$eval('.state', (all) => all.length), patience).toBe(1)
    })

    it('the console page sends no request to other servers, and logs no error', () => {
      const { host } = new URL(service.api)
      expect(conduct.asked.map((url) => new URL(url).host).filter((each) => each !== host)).toEqual([])
      expect(conduct.asked.length).toBeGreaterThan(20)
      expect(conduct.complaints).toEqual([])
    })

    it('the console page says that its scripts could not be loaded, instead of loading for ever', async () => {
      const broken = await browser!.newPage()
      await broken.setRequestInterception(true)
      broken.on('request', (request) => {
        void (request.url().endsWith('/feed.js') ? request.abort() : request.continue())
      })
      await openPage(broken, `${service.api}/`)
      const notice = () => broken.$eval('#notice', (element) => (element as HTMLElement).innerText)
      await expect.poll(notice, patience).toContain('could not load all of its scripts')
      expect(await broken.$eval('#health-word', (word) => word.textContent)).toBe('Not loaded')
      await broken.close()
    })
  })

  describe('the page at /docs', () => {
    beforeAll(async () => {
      page = await newPage()
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
      await page.setViewport(phone)
      await openPage(page, `${service.api}/docs`)
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
      const [, address] = /^ *state +(\S+),/m.exec(service.output())!
      await openPage(page, address)
      await page.waitForSelector('.opblock-tag', { timeout: patient(30_000) })
      await expectAccessible(page)
    })

    it('"Try it out" at /docs has enough contrast, and shows the complete response of a list of 1000 records', async () => {
      await openPage(page, `${service.api}/docs?#/assets:%20assets/getAssetsV1Assets`)
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
    beforeAll(async () => {
      page = await newPage()
      await openPage(page, `${service.api}/`)
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

    it('the console page shows that the api is unavailable, and keeps the last data', async () => {
      await service.stop('SIGTERM')
      await expect.poll(() => textOf('#notice'), patience).toContain('The api does not answer')
      expect(await textOf('#health-chip')).toBe('No answer')
      expect(await textOf('#readers')).toContain('standalone-1')
      await keepPicture(page, 'console-unavailable')
    })

    it('the console page has enough contrast while it shows outdated data', async () => {
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
