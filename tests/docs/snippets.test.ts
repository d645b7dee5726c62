import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../services/core/paths/index.ts'
import { patient } from '../setup/patience.ts'
import { program, startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'

const run = promisify(execFile)

interface Block {
  readonly language: string
  readonly text: string
}

/** The fenced code blocks of a page, in document order. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(packageRoot, page), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }))
}

/**
 * Beginnings of the code blocks that need a network, a container engine or several minutes. The test checks the
 * commands in them without running them.
 */
const notRun = ['git clone ', 'npm ci && npm test', 'docker compose up', 'npm start -- ']

let service: StartedStandalone
beforeAll(async () => {
  service = await startStandalone([])
})
afterAll(() => service.stop('SIGTERM'))

/** Replaces the addresses and the API key in a snippet by the addresses and the API key of the running service. */
function withAddresses(text: string): string {
  const [, state = '', key = ''] = /state\s+http:\/\/(\S+)\/v0\/docs, API key (server_[0-9a-f]+)/.exec(
    service.output(),
  )!
  return text
    .replaceAll('localhost:9000', new URL(service.api).host)
    .replaceAll('localhost:9010', state)
    .replaceAll('server_…', key)
}

/** Runs a shell command and returns its output. */
async function runSnippet(text: string): Promise<string> {
  const { stdout } = await run('bash', ['-euc', withAddresses(text)], { timeout: patient(30_000) })
  return stdout
}

/** Runs a JavaScript module until it exits and returns its output. */
async function runModule(text: string): Promise<string> {
  const words = ['--no-warnings', '--input-type=module', '--eval', withAddresses(text)]
  const { stdout } = await run(process.execPath, words, { cwd: packageRoot, timeout: patient(60_000) })
  return stdout
}

it('every README command to the demo chain gets the answer shown below it', async () => {
  const blocks = blocksOf('README.md')
  let asked = 0
  for (const [at, { language, text }] of blocks.entries()) {
    if (language !== 'sh' || notRun.some((start) => text.startsWith(start))) continue
    const shown = blocks[at + 1]!
    expect([text, shown.language]).toEqual([text, 'json'])
    expect(JSON.parse(await runSnippet(text))).toMatchObject(JSON.parse(shown.text) as object)
    asked++
  }
  expect(asked).toBe(2)
})

it('every option and file that the README names exists', async () => {
  const { stdout: help } = await run(process.execPath, [program, 'standalone', '--help'])
  const start = blocksOf('README.md').find(({ text }) => text.startsWith('npm start -- '))!
  for (const option of start.text.match(/--[a-z-]{2,}/g)!) expect(help).toContain(option)
  const page = readFileSync(join(packageRoot, 'README.md'), 'utf8')
  const links = [...page.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, path]) => path!)
  for (const path of links) expect([path, existsSync(join(packageRoot, path))]).toEqual([path, true])
})

it('the command in docs/faq.md prints a warning', async () => {
  const [command] = blocksOf('docs/faq.md')
  expect(await runSnippet(command!.text)).toContain('collectoin_name; it is ignored')
})

it('the curl command in docs/queries.md prints an event', async () => {
  const [command] = blocksOf('docs/queries.md').filter(({ language }) => language === 'bash')
  const printed = await runSnippet(`API=${service.api}\n${command!.text}`)
  expect(printed).toMatch(/^(?:event|id|data|retry): /m)
})

const clientPage = readFileSync(join(packageRoot, 'docs/quickstart-clients.md'), 'utf8')
const clientExamples = [...clientPage.matchAll(/^## (.+)\n(?:(?!^## )[^])*?```js\n([^]*?)```/gm)].map(
  ([, title, text]) => ({ title: title!, text: text! }),
)

/** Output that the example of each client must print. */
const printed: Readonly<Record<string, RegExp>> = {
  ExplorerApi: /^(\d+ carol \S+\n){3}$/,
  'Market clients': /^(\/\S+ true [0-3]\n){4}$/,
  'socket.io': /^(undone from block \d+\n)*minted \d+ \S+\n/,
  Websocket: /^subscribed undefined\n(?:.+\n)*event asset_minted\n/,
  EventSource: /^(undone from block \d+\n)*asset_minted\n/,
  '@dfuse/client': /^21 eosio::abi\/1\.\d\n$/,
}

it.concurrent.each(clientExamples)(
  'the example of $title on the client page runs',
  async ({ title, text }) => {
    expect(await runModule(text)).toMatch(printed[title]!)
  },
)
