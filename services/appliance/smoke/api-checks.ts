import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Check } from './check.ts'
import { expectThat, NotApplicable } from './check.ts'
import type { Answer, Ask } from './client.ts'

const envelope = z.object({ success: z.literal(true), data: z.unknown(), query_time: z.number() })
/** Members of `/health` that the checks use. */
export const health = z.object({
  version: z.string(),
  chain: z.object({
    chain_id: z.string(),
    service: z.object({
      status: z.string(),
      reasons: z.array(z.string()),
      readers: z.array(z.object({ name: z.string(), state: z.string().nullable() })),
    }),
  }),
  postgres: z.object({ readers: z.array(z.object({ name: z.string(), block_num: z.string() })) }),
})
const openapi = z.object({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) })

/** Whether a reader has reached its `stop_block` and reads no further blocks. */
export const isAtStop = ({ state }: { readonly state: string | null }): boolean =>
  state?.startsWith('stopped at stop_block') ?? false

const POLL_MS = 500

/** Lists that every namespace of a family has. */
const lists = [
  { pattern: /\/v1\/assets$/, least: '?limit=1' },
  { pattern: /\/v1\/sales$/, least: '?limit=1' },
  { pattern: /\/v1\/links$/, least: '?limit=1' },
]

/** The data of a successful answer. */
export function dataOf(answer: Answer): unknown {
  expectThat(answer.status === 200, `status ${answer.status}: ${answer.text.slice(0, 200)}`)
  return envelope.parse(JSON.parse(answer.text)).data
}

const isNotDeployed = ({ text }: Answer): boolean => text.includes('Config not found')

/** Repeats a request for a while if a young chain has not deployed the contract yet. */
async function askOnceDeployed(ask: Ask, path: string, waitMs: number): Promise<Answer> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const answer = await ask(path)
    if (!isNotDeployed(answer) || performance.now() > deadline) return answer
    await sleep(POLL_MS)
  }
}

/** The paths of the OpenAPI document that the api serves. */
export async function pathsOf(ask: Ask): Promise<string[]> {
  const answer = await ask('/openapi.json')
  expectThat(answer.status === 200, `status ${answer.status}`)
  const document = openapi.parse(JSON.parse(answer.text))
  expectThat(document.openapi.startsWith('3.1'), `OpenAPI ${document.openapi}`)
  return Object.keys(document.paths)
}

/** Checks of the health report, the API documents, every config endpoint and one list of each namespace. */
export function apiChecks(ask: Ask, waitMs: number): Check[] {
  return [
    {
      name: 'health',
      run: async () => {
        const { version, chain, postgres } = health.parse(dataOf(await ask('/health')))
        expectThat(postgres.readers.length > 0, 'no reader has indexed anything')
        const stopped = new Map(
          chain.service.readers.filter(isAtStop).map(({ name, state }) => [name, state]),
        )
        const readers = postgres.readers
          .map(({ name, block_num }) => `${name} ${stopped.get(name) ?? `at ${block_num}`}`)
          .join(', ')
        const why = chain.service.reasons.length > 0 ? ` (${chain.service.reasons.join(', ')})` : ''
        return `version ${version}, ${chain.service.status}${why}, ${readers}`
      },
    },
    {
      name: 'alive',
      run: async () => {
        const { status, text } = await ask('/alive')
        expectThat(status === 200 && text.startsWith('success'), `status ${status}: ${text.slice(0, 100)}`)
        return text.slice(0, 24)
      },
    },
    {
      name: 'openapi',
      run: async () => `${(await pathsOf(ask)).length} paths`,
    },
    {
      name: 'docs',
      run: async () => {
        const { status, text, headers } = await ask('/docs')
        expectThat(status === 200 && text.includes('<html'), `status ${status}`)
        expectThat(headers['content-security-policy'] !== undefined, 'without a Content-Security-Policy')
        return `${text.length} characters`
      },
    },
    {
      name: 'console page',
      run: async () => {
        const { status, text, headers } = await ask('/', { headers: { accept: 'text/html' } })
        if (status === 404) throw new NotApplicable('turned off')
        expectThat(status === 200 && text.includes('<html'), `status ${status}`)
        expectThat(headers['content-security-policy'] !== undefined, 'without a Content-Security-Policy')
        dataOf(await ask('/status/data.json'))
        expectThat((await ask('/')).status === 404, 'GET / without Accept: text/html does not return 404')
        return `${text.length} characters`
      },
    },
    {
      name: 'config endpoints',
      run: async () => {
        const paths = (await pathsOf(ask)).filter((path) => path.endsWith('/v1/config'))
        expectThat(paths.length > 0, 'no namespace has a config endpoint')
        const { chain } = health.parse(dataOf(await ask('/health')))
        // A chain may not have the contract yet. If every reader is at its stop_block, no further block is indexed, so
        // the check does not wait for the contract.
        const { readers } = chain.service
        const patienceMs = readers.length > 0 && readers.every(isAtStop) ? 0 : waitMs
        const notes: string[] = []
        for (const path of paths) {
          const answer = await askOnceDeployed(ask, path, patienceMs)
          // A namespace has no configuration if the chain lacks the contract, or if the reader has not reached the
          // block in which the contract wrote its first configuration.
          if (isNotDeployed(answer)) {
            notes.push(`${path} (no configuration yet)`)
            continue
          }
          dataOf(answer)
          notes.push(path)
        }
        return notes.join(' ')
      },
    },
    {
      name: 'a list of each namespace',
      run: async () => {
        const paths = await pathsOf(ask)
        const asked = lists.flatMap(({ pattern, least }) =>
          paths.filter((path) => pattern.test(path)).map((path) => path + least),
        )
        expectThat(asked.length > 0, 'no namespace has a list')
        for (const path of asked) expectThat(Array.isArray(dataOf(await ask(path))), `${path} is not a list`)
        return asked.join(' ')
      },
    },
    {
      name: 'error responses',
      run: async () => {
        const path = (await pathsOf(ask)).find((each) => /\/v1\/assets$/.test(each))
        if (path === undefined) throw new NotApplicable('no namespace lists assets')
        const bad = await ask(`${path}?limit=nonsense`)
        expectThat(
          bad.status === 400 && bad.text.includes('limit'),
          `status ${bad.status} for a bad parameter`,
        )
        const missing = await ask('/no-such-path')
        expectThat(missing.status === 404, `status ${missing.status} for an unknown path`)
        return '400 names the parameter, 404 for an unknown path'
      },
    },
  ]
}
