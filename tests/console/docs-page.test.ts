import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithChromium, startChromium } from '../setup/chromium.ts'
import { startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'
import { patient } from '../setup/patience.ts'

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
    await page.goto(`${service.api}/docs`)
    await page.waitForSelector('.opblock-tag', { timeout: patient(30_000) })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop('SIGTERM')
  })

  it('the page at /docs is dark where the device is, and light where that is', async () => {
    const lightness = () =>
      page.evaluate(() => {
        const [red = 0] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g) ?? []
        return Number(red)
      })
    expect(await lightness()).toBeLessThan(64)
    expect(await page.$eval('html', (html) => html.classList.contains('dark-mode'))).toBe(true)
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
    expect(await page.$eval('html', (html) => html.classList.contains('dark-mode'))).toBe(false)
  })
})
