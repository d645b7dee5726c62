import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { WebsocketClient } from '../live/clients.ts'
import { patient } from '../setup/patience.ts'
import { Attacker, ATTACKER } from './attacker.ts'
import { describeWithPrograms, namespaces } from './programs.ts'
import type { Program, Programs } from './programs.ts'
import { fetchFrom, learnRest } from './rest.ts'

const decompress = promisify(gunzip)

const LARGE_BYTES = 200 * 1_024
const ASSETS = 200
const OFFERS = 20
/** Values of `limit` for the attacker's collection; lists of all collections use the default, 100. */
const limits = [1, 4]
const RECORDS_OF_KIND = 6
/**
 * Longest time by which `/alive` may answer later than the state service, which is idle during the requests, ms.
 * Measured: 900 on a quiet machine, 3,600 next to other programs, 14,000 while answers had no budget of bytes.
 */
const ALIVE_MS = patient(3_000)
/** Limit of a process's growth in resident memory, megabytes. */
const GROWTH_MB = 300
const AT_ONCE = 6
/** Path of a list that the API refuses without a filter. */
const NEEDS_FILTER = '/v1/sales/templates'

/** Requests `/alive` and the idle state service repeatedly, and records the longest delay of `/alive`, ms. */
class AliveProbe {
  readonly #child: ChildProcessWithoutNullStreams
  #output = ''

  constructor({ apiUrl, stateUrl }: Programs) {
    const file = join(packageRoot, 'dist/scripts/hostile/alive-probe.js')
    this.#child = spawn(process.execPath, [file, `${apiUrl}/alive`, `${stateUrl}/alive`])
    this.#child.stdout.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
  }

  async stop(): Promise<number> {
    if (this.#child.exitCode === null) {
      this.#child.stdin.end()
      await once(this.#child, 'close')
    }
    return Number(this.#output)
  }
}

/** Runs a query and returns its rows. */
async function select<T>(programs: Programs, query: string): Promise<T[]> {
  const client = await connectDatabase(programs.database.address, { applicationName: 'test' })
  try {
    return (await client.query<T & object>(query)).rows
  } finally {
    await client.end()
  }
}

/** Waits until the filler has committed the head of the chain. */
async function untilIndexed(programs: Programs): Promise<void> {
  const { num } = programs.chain.head()
  await expect
    .poll(
      async () => (await select<{ block_num: number }>(programs, 'SELECT block_num FROM chain.readers'))[0],
      { timeout: patient(120_000), interval: 200 },
    )
    .toSatisfy((row: { block_num: number } | undefined) => Number(row?.block_num) >= num)
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
}

/**
 * Requests a compressed answer, as `fetch` does. `fetch` decompresses the answers in small parts, which takes twice
 * the processor time.
 */
async function download(url: string): Promise<Answer> {
  const [response] = (await once(
    get(url, { headers: { 'accept-encoding': 'gzip, deflate' } }),
    'response',
  )) as [IncomingMessage]
  const { statusCode = 0, headers } = response
  const bytes = await buffer(response)
  const text = (headers['content-encoding'] === 'gzip' ? await decompress(bytes) : bytes).toString()
  return { status: statusCode, text, retryAfter: headers['retry-after'] }
}

/**
 * Reason why an answer is unacceptable. Undefined if the answer is acceptable: data, an error that names the size
 * limit, record not found, or status 503 with `Retry-After`.
 */
function faultOf(status: number, text: string, retryAfter: string | undefined): string | undefined {
  const { success, message } = JSON.parse(text) as { success?: boolean; message?: string }
  if (status === 200 && success === true) return undefined
  if (status === 400 && message?.includes('limits.answer_bytes') === true) return undefined
  // Record not found: the attacker does not have a record for every path.
  if (status === 416 || status === 404) return undefined
  if (status === 503 && retryAfter !== undefined) return undefined
  return `${status} ${text.slice(0, 300)}`
}

describeWithPrograms('a chain with an attacker', (running) => {
  it(
    'every list, record and live stream with large and unusual rows is answered, or refused with a message that names the limit',
    async () => {
      const programs = running()
      const { apiUrl, chain } = programs
      chain.setPaused(true)
      const processes: Program[] = [programs.api, programs.filler, programs.state]
      const idle = processes.map(({ megabytes }) => megabytes)
      const live = await Promise.all(
        namespaces.map(async ({ path }) => {
          const client = await WebsocketClient.open(`${apiUrl}${path}/v1/live`)
          await client.subscribe({})
          return client
        }),
      )
      const alive = new AliveProbe(programs)
      const highest = [...idle]
      const watch = setInterval(() => {
        for (const [at, { megabytes }] of processes.entries()) highest[at] = Math.max(highest[at]!, megabytes)
      }, 250)

      onTestFinished(async () => {
        clearInterval(watch)
        await alive.stop()
        if (programs.api.output !== '') console.info(programs.api.output)
      })

      const attacker = new Attacker(chain)
      attacker.create(LARGE_BYTES)
      await untilIndexed(programs)
      const [template] = await select<{ id: number }>(
        programs,
        `SELECT min(template_id)::integer AS id FROM assets.templates WHERE collection_name = '${ATTACKER}'`,
      )
      attacker.mint(template!.id, ASSETS)
      await untilIndexed(programs)
      const ids = await select<{ id: string }>(
        programs,
        `SELECT asset_id::text AS id FROM assets.assets WHERE collection_name = '${ATTACKER}' ORDER BY asset_id`,
      )
      expect(ids.length).toBe(ASSETS)
      attacker.list(
        ids.map(({ id }) => BigInt(id)),
        OFFERS,
      )
      await untilIndexed(programs)
      const [counts] = await select<Record<'offers' | 'sales' | 'auctions' | 'transfers', number>>(
        programs,
        `SELECT (SELECT count(*)::integer FROM assets.offers WHERE sender = '${ATTACKER}') AS offers,
          (SELECT count(*)::integer FROM market.sales WHERE seller = '${ATTACKER}') AS sales,
          (SELECT count(*)::integer FROM market.auctions WHERE seller = '${ATTACKER}') AS auctions,
          (SELECT count(*)::integer FROM assets.transfers WHERE sender = '${ATTACKER}') AS transfers`,
      )
      expect(counts).toEqual({ offers: OFFERS + 20, sales: 20, auctions: 20, transfers: 21 })

      const { targets } = await learnRest(namespaces, fetchFrom(apiUrl))
      const lists = targets.filter(({ endpoint }) => !endpoint.path.includes(':'))
      const records = await recordPaths(programs)
      const paths = [
        ...lists.flatMap(({ prefix, endpoint }) =>
          limits.map(
            (limit) => `${prefix}${endpoint.path}?symbol=WAX&collection_name=${ATTACKER}&limit=${limit}`,
          ),
        ),
        ...lists
          .filter(({ endpoint }) => endpoint.path !== NEEDS_FILTER)
          .map(({ prefix, endpoint }) => `${prefix}${endpoint.path}?symbol=WAX`),
        ...records,
      ]
      const faults: string[] = []
      const statuses = new Map<number, number>()
      const queue = [...paths]
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
            const { status, text, retryAfter } = await download(apiUrl + path)
            const fault = faultOf(status, text, retryAfter)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            if (fault !== undefined) faults.push(`${path} -> ${fault}`)
          }
        }),
      )
      clearInterval(watch)
      const longestMs = await alive.stop()
      console.info(
        `${paths.length} requests: ${[...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')}; ` +
          `/alive at most ${longestMs.toFixed(0)} ms later than the idle service; memory, MB: ${processes
            .map(({ name }, at) => `${name} ${idle[at]!.toFixed(0)} -> ${highest[at]!.toFixed(0)}`)
            .join(', ')}`,
      )
      expect(faults).toEqual([])
      expect(programs.crashed).toEqual([])
      // The API process is a supervisor; its workers are child processes.
      for (const [at, { name, children }] of processes.entries()) {
        const allowed = GROWTH_MB * Math.max(1, children.length)
        expect([name, highest[at]! - idle[at]! < allowed]).toEqual([name, true])
      }
      expect(longestMs).toBeLessThan(ALIVE_MS)
      for (const client of live) expect(client.closed).toBeUndefined()
      const [assetsEvents] = live
      const events = assetsEvents!.messages.filter(({ type }) => type === 'event')
      await expect
        .poll(() => events.length, { timeout: patient(20_000) })
        .toBeGreaterThanOrEqual(ASSETS + OFFERS)
      for (const event of events) expect(event.record !== undefined || event.too_large === true).toBe(true)
      for (const client of live) client.socket.terminate()
      chain.setPaused(false)
    },
    patient(300_000),
  )
})

/** Paths of some of the attacker's records of each kind. Records of a kind differ only in small attributes. */
async function recordPaths(programs: Programs): Promise<string[]> {
  const kinds = [
    ['/assets/v1/assets/', 'asset_id', 'assets.assets', 'collection_name'],
    [`/assets/v1/templates/${ATTACKER}/`, 'template_id', 'assets.templates', 'collection_name'],
    ['/assets/v1/offers/', 'offer_id', 'assets.offers', 'sender'],
    ['/market/v1/sales/', 'sale_id', 'market.sales', 'seller'],
    ['/market/v1/auctions/', 'auction_id', 'market.auctions', 'seller'],
  ] as const
  const ofKinds = kinds.map(
    ([path, id, table, account]) =>
      `(SELECT '${path}' || ${id} AS path FROM ${table} WHERE ${account} = '${ATTACKER}' ORDER BY ${id} LIMIT ${RECORDS_OF_KIND})`,
  )
  const rows = await select<{ path: string }>(programs, ofKinds.join(' UNION ALL '))
  return [
    ...rows.map(({ path }) => path),
    `/assets/v1/collections/${ATTACKER}`,
    `/assets/v1/schemas/${ATTACKER}/odd`,
    `/assets/v1/accounts/${ATTACKER}`,
  ]
}
