import { source } from 'axe-core'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'puppeteer-core'
import { expect } from 'vitest'

/** Width of the narrowest screen that pages have to fit, CSS pixels. */
const narrow = { width: 320, height: 640 }
const wide = { width: 1280, height: 900 }

/**
 * Fails for every fault that axe-core finds in the current page (contrast below 4.5, fields and buttons without a name,
 * content outside of landmarks, ...), in light and dark colours, at 320 and 1280 pixels.
 * @param undecided selectors of text whose background axe-core cannot determine from the styles
 */
export async function expectAccessible(page: Page, undecided: readonly string[] = []): Promise<void> {
  await page.evaluate(source)
  for (const viewport of [wide, narrow]) {
    await page.setViewport(viewport)
    for (const value of ['light', 'dark']) {
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value },
        // Without this setting, axe-core would measure the intermediate colours of a transition.
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ])
      // The browser applies the emulated colours before it paints the next frame.
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      )
      const found = await faultsOf(page)
      expect(
        found.filter((fault) => !undecided.some((each) => fault.includes(each))),
        `${value}, ${viewport.width} px`,
      ).toEqual([])
    }
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBe(viewport.width)
  }
  await page.setViewport(wide)
}

async function faultsOf(page: Page): Promise<string[]> {
  const { violations, incomplete } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: (options: RunOptions) => Promise<AxeResults> } }
    return axe.run({ resultTypes: ['violations', 'incomplete'] })
  })
  const unsure = incomplete.filter(({ id }) => id === 'color-contrast')
  return (
    [...violations, ...unsure]
      .flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary = '' }) => `${id}: ${String(target)}: ${failureSummary}`),
      )
      // A scrolling list hides most of its rows. Hidden rows have the same style as visible rows.
      .filter((fault) => !fault.includes('partially obscured'))
  )
}

/** Controls that the keyboard reaches, in the order of the Tab key, and all controls, in the order of the page. */
export async function tabStops(page: Page, most = 200): Promise<{ reached: string[]; wanted: string[] }> {
  const wanted = await page.evaluate(() => {
    const controls = [
      ...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]'),
    ]
    const reachable = controls.filter(
      (each) => each instanceof HTMLElement && each.tabIndex >= 0 && each.checkVisibility(),
    )
    reachable.forEach((each, place) => {
      each.setAttribute('data-tab', String(place))
    })
    // The Tab key continues after the last clicked element: move the focus to the start of the page.
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
    return reachable.map((each) => each.getAttribute('data-tab') ?? '')
  })
  const reached: string[] = []
  while (reached.length < most) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(() => {
      const at = document.activeElement
      if (at === null || at === document.body) return null
      const { outlineStyle, outlineWidth } = getComputedStyle(at)
      const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
      return { tab: at.getAttribute('data-tab') ?? at.outerHTML.slice(0, 100), isSeen }
    })
    if (stop === null || reached.includes(stop.tab)) break
    reached.push(stop.isSeen ? stop.tab : `${stop.tab} without a visible focus`)
  }
  return { reached, wanted }
}
