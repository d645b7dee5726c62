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

/** The fenced blocks of a page, in their order. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(packageRoot, page), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }))
}

/** Blocks that need a network, a container engine or minutes: their commands are looked at instead. */
const notRun = ['npm ci && npm start', 'npm ci && npm test', 'docker compose up', 'npm start -- ']

let service: StartedStandalone
beforeAll(async () => {
  service = await startStandalone([])
})
afterAll(() => service.stop('SIGTERM'))

/** Runs a snippet against the running service instead of the addresses that it names. */
async function runSnippet(text: string): Promise<string> {
  const [, state = '', key = ''] = /state\s+http:\/\/(\S+)\/v0\/docs, API key (server_[0-9a-f]+)/.exec(
    service.output(),
  )!
  const command = text
    .replaceAll('localhost:9000', new URL(service.api).host)
    .replaceAll('localhost:9010', state)
    .replaceAll('server_…', key)
  const { stdout } = await run('bash', ['-euc', command], { timeout: patient(30_000) })
  return stdout
}

it('every command of the README that asks the demo chain gets the answer that is shown below it', async () => {
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

it('the command of the questions page prints a warning', async () => {
  const [command] = blocksOf('docs/faq.md')
  expect(await runSnippet(command!.text)).toContain('collectoin_name; it is ignored')
})
