/**
 * Takes the pictures in docs/images: the console, and the terminal of `pronghorn standalone`, while catching up, at
 * the head of the chain, with a problem, and on a phone. Starts its own chain, and a Chromium from the PATH.
 * Usage: npm run pictures -- [--blocks N] (a slow machine needs fewer blocks)
 */
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { launch } from 'puppeteer-core'
import type { Browser, Page } from 'puppeteer-core'
import { packageRoot } from '../../services/core/paths/index.ts'
import { drawTerminal } from './terminal.ts'

const PATIENCE_MS = 600_000
const ports = { ship: 19_480, http: 19_488, api: 19_400 }
const folder = join(packageRoot, 'docs/images')
const program = join(packageRoot, 'dist/services/cli/main.js')
const page = `http://localhost:${ports.api}/`
const secrets = [/server_[0-9a-f]+/g, /(?<=pronghorn:)[\w-]+(?=@)/g]

const { values } = parseArgs({ options: { blocks: { type: 'string', default: '20000' } } })
const children: ChildProcess[] = []
let browser: Browser | undefined
try {
  mkdirSync(folder, { recursive: true })
  const chain = start(process.execPath, [
    ...[program, 'devchain', '--blocks', values.blocks],
    ...['--port', String(ports.ship), '--http-port', String(ports.http)],
  ])
  await until(async () => (await fetch(`http://127.0.0.1:${ports.http}/v1/chain/get_info`)).ok)
  const terminal = startInTerminal(120, ports.api)
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim()
  const args = [
    '--disable-gpu',
    '--disable-dev-shm-usage',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ]
  browser = await launch({ executablePath, args, protocolTimeout: PATIENCE_MS })
  const shown = await browser.newPage()
  await shown.setViewport({ width: 1_280, height: 1_000 })
  const keep = async (name: string): Promise<void> => {
    writeFileSync(join(folder, `terminal-${name}.svg`), drawTerminal(terminal.output, secrets))
    await shown.screenshot({ path: join(folder, `console-${name}.png`) })
    process.stdout.write(`${name}\n`)
  }
  await until(() => Promise.resolve(/\d+%/.test(terminal.output)))
  await until(() => shown.goto(page))
  await until(
    async () => (await chipOf(shown)) === 'Catching up' && / left/.test(terminal.output.slice(-2_000)),
  )
  // Wait until the page shows the reader's speed, which takes a few seconds.
  await until(async () => /\d blocks\/s/.test(String(await shown.evaluate('document.body.innerText'))))
  await keep('catching-up')
  await until(async () => (await chipOf(shown)) === 'Healthy' && terminal.output.includes('At the head'))
  await sleep(10_000)
  await keep('head')
  const phone = await browser.newPage()
  await phone.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
  await phone.setViewport({ width: 390, height: 844, deviceScaleFactor: 2, isMobile: true })
  await phone.goto(page)
  await until(async () => (await chipOf(phone)) !== 'Loading')
  await phone.screenshot({ path: join(folder, 'console-phone.png') })
  await phone.close()
  await shown.bringToFront()
  const narrow = startInTerminal(44, ports.api + 1)
  await until(() => Promise.resolve(/\d+%/.test(narrow.output)))
  writeFileSync(join(folder, 'terminal-phone.svg'), drawTerminal(narrow.output, secrets))
  process.stdout.write('phone\n')
  chain.kill('SIGKILL')
  await until(async () => terminal.output.includes('Trouble') && (await chipOf(shown)) !== 'Healthy')
  await sleep(5_000)
  await keep('trouble')
} finally {
  await browser?.close()
  for (const child of children.reverse()) child.kill('SIGTERM')
}

function start(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

/** Runs `pronghorn standalone` in a terminal that is `columns` characters wide. */
function startInTerminal(columns: number, port: number): { output: string } {
  const node = `--ship ws://127.0.0.1:${ports.ship} --http http://127.0.0.1:${ports.http} --port ${port}`
  const command = `stty cols ${columns}; exec ${process.execPath} ${program} standalone ${node}`
  const terminal = { output: '' }
  // `script` provides a pseudo-terminal.
  start('script', ['-qfc', command, '/dev/null']).stdout?.on('data', (chunk: Buffer) => {
    terminal.output += chunk.toString()
  })
  return terminal
}

async function chipOf(of: Page): Promise<string> {
  const word: unknown = await of.evaluate("document.querySelector('#health-word').textContent")
  return String(word)
}

async function until(holds: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await holds().catch(() => false)
    if (found !== false && found !== undefined) return
    if (performance.now() > deadline) throw new Error(`not in time: ${holds.toString()}`)
    await sleep(200)
  }
}
