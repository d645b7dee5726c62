import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch } from 'puppeteer-core'
import type { Browser, HTTPRequest, Page } from 'puppeteer-core'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless, findProgram } from './available.ts'

/** Folder for screenshots of a test run, for inspection by people; git ignores the folder. */
const artefacts = join(packageRoot, '.data/artefacts')

function findChromium(): string | undefined {
  return findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome')
}

/**
 * `describe` for tests that need a browser. Without Chromium on the PATH the suite is skipped with a reason, or fails
 * with PRONGHORN_REQUIRE_ALL=1.
 */
export function describeWithChromium(name: string, suite: () => void): void {
  describeUnless(findChromium() === undefined ? 'there is no chromium on the PATH' : undefined, name, suite)
}

/** Starts a headless browser. The caller closes it. */
export function startChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('there is no chromium on the PATH')
  // Chromium's sandbox does not run as root, and /dev/shm is small in containers.
  const args = ['--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb']
  if (process.getuid?.() === 0) args.push('--no-sandbox')
  return launch({ executablePath, args })
}

/**
 * Errors of Chromium when the network interfaces of the machine change during a request, such as when Docker starts or
 * stops a container.
 */
const NETWORK_CHANGED = /net::ERR_(?:NETWORK_CHANGED|INTERNET_DISCONNECTED)/
const MOST_ATTEMPTS = 10

/** Opens a URL (default: the page's current one), and retries while the network interfaces change. */
export async function openPage(page: Page, url = page.url()): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    if (!(await isDisturbed(page, url))) return
    if (attempt === MOST_ATTEMPTS)
      throw new Error(`the network changed ${MOST_ATTEMPTS} times while ${url} was opened`)
    await sleep(100 * attempt)
  }
}

async function isDisturbed(page: Page, url: string): Promise<boolean> {
  let isSo = false
  const look = (request: HTTPRequest) => {
    isSo ||= NETWORK_CHANGED.test(request.failure()?.errorText ?? '')
  }
  page.on('requestfailed', look)
  try {
    await page.goto(url)
  } catch (error) {
    if (!NETWORK_CHANGED.test(String(error))) throw error
    isSo = true
  } finally {
    page.off('requestfailed', look)
  }
  return isSo
}

/** Problems of a page that a user does not see: messages of the console, and requests. */
export interface PageConduct {
  /** Errors and warnings of the page's console, and uncaught errors. */
  readonly complaints: string[]
  /** URLs that the page requested. */
  readonly asked: string[]
}

/**
 * Records the console errors, console warnings and uncaught errors of a page from now on, and the URLs that it
 * requests.
 */
export function watchConduct(page: Page): PageConduct {
  const conduct: PageConduct = { complaints: [], asked: [] }
  page.on('console', (message) => {
    if (!['error', 'warn'].includes(message.type()) || NETWORK_CHANGED.test(message.text())) return
    conduct.complaints.push(message.text())
  })
  page.on('pageerror', (error) => {
    conduct.complaints.push(error instanceof Error ? error.message : String(error))
  })
  page.on('request', (request) => {
    conduct.asked.push(request.url())
  })
  return conduct
}

/** Saves a picture of the whole page as an artefact of the test run; returns its path. */
export async function keepPicture(page: Page, name: string): Promise<string> {
  mkdirSync(artefacts, { recursive: true })
  const path = join(artefacts, `${name}.png`)
  await page.screenshot({ path, fullPage: true, type: 'png' })
  return path
}
