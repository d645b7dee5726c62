import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { startListPolls } from '../../services/filler/named-lists/polls.ts'
import type { ListPollResult, ListPolls } from '../../services/filler/named-lists/polls.ts'
import type { ListSettings } from '../../services/filler/named-lists/source.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** An HTTP source of lists with a reply that a test can change. */
class Source {
  requests: IncomingMessage[] = []
  #answer: Answer = () => undefined
  readonly #server: Server = createServer((request, response) => {
    this.requests.push(request)
    this.#answer(request, response)
  })

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://me:pass%20word@127.0.0.1:${(this.#server.address() as AddressInfo).port}/all?token=hidden`
  }

  answers(answer: Answer): void {
    this.#answer = answer
  }

  sends(lists: Record<string, readonly string[]>): void {
    const body = {
      lists: Object.entries(lists).map(([listName, items]) => ({
        listName,
        items: items.map((itemName) => ({ itemName, extra: 1 })),
      })),
    }
    this.#answer = (_request, response) => response.end(JSON.stringify(body))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

const logger = createLogger({ name: 'test', level: 'silent' })
let database: TestDatabase
let source: Source
let polls: ListPolls | undefined

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  source = new Source()
  await source.open()
})
afterEach(async () => {
  await polls?.stop()
  polls = undefined
  await source.close()
  await query('TRUNCATE chain.lists, chain.list_sources')
})

/** Starts to poll the list sources. Returns a function that waits for the next poll with the given outcome. */
function start(
  readers: readonly ListSettings[],
  limits: { timeoutMs?: number; maxBytes?: number; maxItemsOfList?: number } = {},
): (outcome: ListPollResult['outcome']) => Promise<ListPollResult> {
  const results: ListPollResult[] = []
  let wake: () => void = () => undefined
  polls = startListPolls({
    readers,
    database: database.address,
    logger,
    limits,
    onPoll: (result) => {
      results.push(result)
      wake()
    },
  })
  return async (outcome) => {
    for (;;) {
      const next = results.shift()
      if (next?.outcome === outcome) return next
      if (next) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}

const reader = (name = 'main'): ListSettings => ({
  name,
  list_polls: [{ url: source.url, api_key: 'key-1', frequency: 0.05 }],
})

async function query<T>(text: string): Promise<T[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const { rows } = await client.query(text)
  await client.end()
  return rows as T[]
}

async function lists(): Promise<Record<string, string[]>> {
  const rows = await query<{ name: string; items: string[] }>(
    'SELECT name, items FROM chain.lists ORDER BY name, source',
  )
  return Object.fromEntries(rows.map(({ name, items }) => [name, items]))
}

describe('a source of named lists', () => {
  it('a reader polls a source of named lists at the start and periodically, sends the configured key, and replaces the lists of the source', async () => {
    source.sends({ verified: ['alice', 'bob', 'alice'], gone: ['carol'], empty: [] })
    const next = start([reader()])
    expect(await next('changed')).toMatchObject({ items: 3 })
    expect(await lists()).toEqual({ verified: ['alice', 'bob'], gone: ['carol'], empty: [] })
    const [request] = source.requests
    expect(request?.headers['x-api-key']).toBe('key-1')
    expect(request?.headers.authorization).toBe(`Basic ${Buffer.from('me:pass word').toString('base64')}`)
    expect(request?.url).toBe('/all?token=hidden')

    source.sends({ verified: ['bob', 'dave'] })
    expect(await next('changed')).toMatchObject({ items: 2 })
    expect(await lists()).toEqual({ verified: ['bob', 'dave'] })
    expect(await next('unchanged')).toMatchObject({ items: 2 })
    const sources = await query<Record<string, unknown>>(
      'SELECT reader, address, problem, read_at FROM chain.list_sources',
    )
    expect(sources).toEqual([
      {
        reader: 'main',
        address: source.url.replace('me:pass%20word@', '').replace('?token=hidden', ''),
        problem: null,
        read_at: expect.any(Date) as Date,
      },
    ])
  })

  it.each<[string, Answer, string]>([
    ['a failure', (_request, response) => response.writeHead(500).end(), 'status 500'],
    ['no JSON', (_request, response) => response.end('<html>'), 'the answer is not JSON'],
    ['other JSON', (_request, response) => response.end('{"lists":[{"listName":7}]}'), 'lists.0.listName'],
    [
      'an item with a control character',
      (_request, response) => response.end('{"lists":[{"listName":"a","items":[{"itemName":"\\u0000"}]}]}'),
      'lists.0.items.0.itemName',
    ],
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/' }).end(), 'redirect'],
    [
      'an answer above the size limit',
      (_request, response) => response.end(`{"lists":[],"padding":"${'x'.repeat(20_000)}"}`),
      'more than 10000 bytes',
    ],
    [
      'a list with too many items',
      (_request, response) =>
        response.end(
          JSON.stringify({
            lists: [{ listName: 'a', items: [1, 2, 3].map((each) => ({ itemName: String(each) })) }],
          }),
        ),
      'more than 2 items',
    ],
    ['nothing', () => undefined, 'no answer in 500 ms'],
    [
      'an answer that never ends',
      (_request, response) => void response.writeHead(200).write('{"lists":'),
      'no answer in 500 ms',
    ],
  ])(
    'if the source of named lists sends %s, its last lists stay, and the reason is reported',
    async (_what, answer, problem) => {
      source.sends({ good: ['alice'] })
      const next = start([reader()], { timeoutMs: 500, maxBytes: 10_000, maxItemsOfList: 2 })
      await next('changed')
      source.answers(answer)
      expect(await next('failed')).toMatchObject({ items: undefined })
      await polls?.stop()
      expect(await lists()).toEqual({ good: ['alice'] })
      const [row] = await query<{ problem: string; read_at: Date }>(
        'SELECT problem, read_at FROM chain.list_sources',
      )
      expect(row?.problem).toContain('LIST_SOURCE_FAILED')
      expect(row?.problem).toContain(problem)
      expect(row?.problem).not.toMatch(/hidden|pass|key-1/)
      expect(row?.read_at).toBeInstanceOf(Date)
    },
  )

  it('a poll changes only the lists of the polled source; lists of a source that is no longer configured are deleted', async () => {
    await query("INSERT INTO chain.lists (name, items) VALUES ('hand', '{zoe}'), ('verified', '{yan}')")
    source.sends({ verified: ['alice'] })
    let next = start([reader('one'), reader('two')])
    await next('changed')
    await next('changed')
    const count = "SELECT count(*)::int AS n FROM chain.lists WHERE name = 'verified'"
    expect(await query(count)).toEqual([{ n: 3 }])
    await polls?.stop()

    next = start([{ name: 'one', list_polls: [] }, reader('three')])
    await next('changed')
    await polls?.stop()
    const rows = await query<{ owner: string }>(
      "SELECT name || ' ' || split_part(source, ':', 1) AS owner FROM chain.lists ORDER BY 1",
    )
    expect(rows.map(({ owner }) => owner)).toEqual(['hand ', 'verified ', 'verified three', 'verified two'])
  })
})
