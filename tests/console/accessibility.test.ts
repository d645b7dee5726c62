import type { Browser, Page, SerializedAXNode } from 'puppeteer-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithChromium, openPage, startChromium } from '../setup/chromium.ts'
import { startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'
import { patient } from '../setup/patience.ts'
import { expectAccessible, tabStops } from './accessibility.ts'

const patience = { timeout: patient(60_000), interval: 100 }

describeWithChromium('the console page, for eyes, keyboards and screen readers', () => {
  let browser: Browser | undefined
  let service: StartedStandalone | undefined
  let page: Page

  beforeAll(async () => {
    browser = await startChromium()
    service = await startStandalone([])
    page = await browser.newPage()
    await openPage(page, `${service.api}/`)
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop('SIGTERM')
  })

  it('the console page has enough contrast, a name for everything, and fits 320 pixels', async () => {
    await expect.poll(() => page.$$eval('.state', ([state]) => state?.textContent), patience).toBe('live')
    await expect.poll(() => page.$$eval('#events li', (rows) => rows.length), patience).toBeGreaterThan(2)
    await page.click('#sizes-more')
    await expectAccessible(page)
    await page.click('#sizes-more')
  })

  it('the Tab key reaches every control of the console page in its order, and shows where it is', async () => {
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
    // The last one is the point of a chart that the arrow keys have reached.
    expect(live).toEqual([
      ['health-chip', 'status'],
      ['notice-text', 'alert'],
      ['', 'polite'],
    ])
    const places = namesOf((await page.accessibility.snapshot({ interestingOnly: false }))!)
    expect(places).toEqual(
      expect.arrayContaining(['banner', 'main', 'contentinfo', 'navigation Documentation']),
    )
    const regions = ['Summary', 'Indexing', 'Live events', 'Database by table', 'What is served']
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

/** Role and name of everything in a tree, as a screen reader has it. */
function namesOf({ role, name = '', children = [] }: SerializedAXNode): string[] {
  return [`${role} ${name}`.trim(), ...children.flatMap(namesOf)]
}
