import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { ReaderStatus } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

/** Header of a websocket message that announces 100 MB. */
const hugeFrame = Buffer.from('827f0000000005f5e100', 'hex')

let database: TestDatabase
let running: TestChain
let node: DrippingNode
let ending: AbortController
const statuses: ReaderStatus[] = []

/** A proxy in front of a node. After `drip` it sends a message that never completes. */
class DrippingNode {
  readonly server = createServer((client) => this.#join(client))
  readonly #pairs = new Map<Socket, Socket>()
  readonly #target: URL
  #timer: NodeJS.Timeout | undefined

  constructor(target: string) {
    this.#target = new URL(target)
  }

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  drip(): void {
    const clients = [...this.#pairs.keys()]
    for (const client of clients) {
      this.#pairs.get(client)?.unpipe(client)
      client.write(hugeFrame)
    }
    this.#timer = setInterval(() => {
      for (const client of clients) if (client.writable) client.write(Buffer.alloc(300))
    }, 20)
  }

  close(): void {
    clearInterval(this.#timer)
    this.server.close()
    for (const [client, upstream] of this.#pairs) {
      client.destroy()
      upstream.destroy()
    }
  }

  #join(client: Socket): void {
    const upstream = connect(Number(this.#target.port), this.#target.hostname)
    this.#pairs.set(client, upstream)
    client.on('error', () => undefined).on('close', () => upstream.destroy())
    upstream.on('error', () => undefined).on('close', () => client.destroy())
    client.pipe(upstream).pipe(client)
  }
}

beforeEach(async () => {
  statuses.length = 0
  database = await createTestDatabase()
  running = await startChain({ recordings: ['main'], libLagBlocks: 2, blocks: 2 })
  node = new DrippingNode(running.shipUrl)
  ending = new AbortController()
})
afterEach(async () => {
  ending.abort()
  node.close()
  await running.chain.stop()
  await database.drop()
})

/** Waits until the reader has reported a status that fits. Returns the latest fitting status. */
async function heard(fits: (status: ReaderStatus) => boolean): Promise<ReaderStatus> {
  let found: ReaderStatus | undefined
  await expect.poll(() => (found = statuses.findLast(fits)) !== undefined).toBe(true)
  return found!
}

it('a reader whose node sends single bytes is unhealthy, reports the cause, and recovers', async () => {
  const shipUrl = await node.listen()
  const reading = indexUntil({ ...running, shipUrl }, database.address, 0, {
    signal: ending.signal,
    options: {
      stalledAfterMs: 600,
      onStatus: (status) => statuses.push(status),
      shipTiming: { backoffMinMs: 20, slowMessageTimeoutMs: 3_000, minBytesPerSecond: 65_536 },
    },
  })
  const head = running.chain.head().num
  await heard(({ block, state }) => block === head && state === 'live')
  node.drip()
  running.chain.produceBlock()

  const stalled = await heard(({ problem }) => problem !== null && problem.summary.includes('complete'))
  expect(stalled.problem?.summary).toBe('a message of the chain node stays incomplete')
  expect(stalled.problem?.detail).toMatch(/: \d{4,} bytes after \d+ s$/)
  expect(stalled).toMatchObject({ block: head, connections: 1 })
  expect(stalled.sinceMessageMs).toBeGreaterThan(600)
  expect(stalled.sinceBlockMs).toBeGreaterThan(600)
  expect(stalled.sinceCommitMs).toBeGreaterThan(600)
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const read = async () => {
    const { rows } = await client.query<{ problem: string | null }>(
      'SELECT problem FROM chain.heartbeats WHERE reader = $1',
      [testSettings.name],
    )
    return rows[0]?.problem
  }
  await expect.poll(read).toBe(stalled.problem?.summary)

  // Keep producing blocks: otherwise a slow machine would report the next stall before the recovery.
  const producing = setInterval(() => running.chain.produceBlock(), 200)
  const well = await heard(({ block, problem }) => block > head && problem === null)
  expect(well.connections).toBeGreaterThanOrEqual(2)
  await expect.poll(read).toBe(null)
  clearInterval(producing)
  await client.end()
  ending.abort()
  await reading
})

it('the status of a reader has no head time before the head block is received', async () => {
  const head = running.chain.head().num
  const index = (stopBlock: number) =>
    indexUntil(running, database.address, stopBlock, {
      options: { onStatus: (status) => statuses.push(status) },
    })
  await index(300)
  expect(statuses.at(-1)).toMatchObject({ block: 300, head, headTimeMs: null })
  await index(head)
  const last = statuses.at(-1)
  expect(last).toMatchObject({ block: head, head, headTimeMs: last?.blockTimeMs })
})
