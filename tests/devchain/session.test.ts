import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ShipClient } from './ship-client.ts'
import type { Result } from './ship-client.ts'
import { benchBlocks } from '../../scripts/lab/index.ts'
import { createDevchain } from '../../services/devchain/devchain.ts'
import type { Devchain } from '../../services/devchain/devchain.ts'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import type { SessionFaults } from '../../services/devchain/ship/index.ts'

const open: (Devchain | ShipClient)[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await (each instanceof ShipClient ? each.close() : each.stop())
})

async function serve(options: DevchainOptions): Promise<{ devchain: Devchain; url: string }> {
  const devchain = createDevchain(options)
  open.push(devchain)
  return { devchain, url: (await devchain.start()).shipUrl }
}

async function connect(url: string): Promise<ShipClient> {
  const client = await ShipClient.open(url)
  open.push(client)
  return client
}

/** Waits until the node has handled everything that was sent before, by asking for its status. */
async function settle(client: ShipClient): Promise<void> {
  client.status = null
  client.requestStatus()
  await client.until(() => client.status !== null)
}

const genesis = { num: 0, id: Buffer.alloc(32), slot: 1_700_000_000 }

function numbers(results: readonly Result[]): (number | null)[] {
  return results.map((result) => result.num)
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function positionsOf(devchain: Devchain, first: number, last: number): { num: number; id: string }[] {
  return range(first, last).map((num) => ({ num, id: devchain.block(num)!.id.toString('hex') }))
}

test('the devchain sends as many blocks as a client has credits, and acks add credits', async () => {
  const { url } = await serve({})
  const client = await connect(url)
  client.ack(5)
  client.request({ credits: 3 })
  await settle(client)
  expect(numbers(client.results)).toEqual([1, 2, 3])
  client.ack(2)
  await settle(client)
  expect(numbers(client.results)).toEqual([1, 2, 3, 4, 5])
})

test('the end block of a request is exclusive, the session stays open, and a new request replaces the previous request', async () => {
  const { url } = await serve({})
  const client = await connect(url)
  client.request({ start: 10, end: 13 })
  await settle(client)
  client.request({ start: 500, end: 502 })
  await settle(client)
  expect(numbers(client.results)).toEqual([10, 11, 12, 500, 501])
  expect(client.closed).toBe(false)
})

test('the devchain sends only irreversible blocks if the request asks for them', async () => {
  const { devchain, url } = await serve({ blocks: 20, libLagBlocks: 7 })
  const client = await connect(url)
  client.request({ start: 970, irreversibleOnly: true })
  await settle(client)
  expect(client.results.at(-1)?.num).toBe(984 - 7)
  devchain.produceBlock()
  await settle(client)
  expect(client.results.at(-1)?.num).toBe(985 - 7)
  expect(devchain.lib().num).toBe(985 - 7)
})

test('the devchain omits payloads that the request does not ask for', async () => {
  const { url } = await serve({})
  const client = await connect(url)
  client.request({ start: 100, end: 101, fetch: [false, true, false] })
  client.request({ start: 100, end: 101, fetch: [true, false, true] })
  await settle(client)
  const [traces, others] = client.results
  expect([traces?.block, traces?.deltas, others?.traces]).toEqual([null, null, null])
  expect([traces?.traces, others?.block, others?.deltas].every((payload) => payload !== null)).toBe(true)
})

test('the devchain starts at the requested block, or at the first earlier position of the client that is on another branch', async () => {
  const { devchain, url } = await serve({ blocks: 10, libLagBlocks: 30 })
  const client = await connect(url)
  const known = positionsOf(devchain, 966, 974)
  const startFor = async (positions: typeof known): Promise<number | null | undefined> => {
    client.results.length = 0
    client.request({ start: 972, credits: 1, positions })
    await settle(client)
    return client.results[0]?.num
  }
  const altered = (num: number): typeof known =>
    known.map((position) => (position.num === num ? { num, id: 'ab'.repeat(32) } : position))
  expect(await startFor(known)).toBe(972)
  expect(await startFor(altered(969))).toBe(969)
  // The devchain compares only the client's positions below the requested start block.
  expect(await startFor(altered(973))).toBe(972)
  expect(await startFor([])).toBe(972)
})

test('the devchain serves several sessions concurrently', async () => {
  const { url } = await serve({})
  const clients = await Promise.all([connect(url), connect(url), connect(url)])
  clients.forEach((client, index) => client.request({ start: 1 + index, end: 201 }))
  for (const client of clients) await client.untilBlock(200)
  expect(clients.map((client) => client.results.length)).toEqual([200, 199, 198])
})

test('the devchain serves the state history over a unix socket', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'devchain-'))
  const { url } = await serve({ shipSocketPath: join(folder, 'ship.sock') })
  const client = await connect(url)
  client.request({ end: 4 })
  await client.untilBlock(3)
  expect(client.results.length).toBe(3)
  await rm(folder, { recursive: true })
})

test('the devchain ends a connection that sends frames other than requests', async () => {
  const { url } = await serve({})
  for (const bad of [Buffer.from([9]), Buffer.from([1, 0, 0]), Buffer.alloc(0)]) {
    const client = await connect(url)
    client.socket.send(bad)
    await client.until(() => client.closed)
  }
})

test('the devchain stops producing frames for a client that does not read, and continues when the client reads', async () => {
  let made = 0
  const blocks = [...benchBlocks('foreign', 300, genesis)].map((block) => ({
    ...{ num: block.num, id: block.id, prevId: block.prevId, traces: block.traces, deltas: block.deltas },
    get block() {
      made++
      return block.block
    },
  }))
  const { url } = await serve({ recordings: [], append: blocks })
  const client = await connect(url)
  client.socket.pause()
  made = 0
  client.request({})
  await new Promise((resolve) => setTimeout(resolve, 200))
  // The results have 90 MB. The buffers of the system and of the session hold a few megabytes.
  expect(made).toBeGreaterThan(0)
  expect(made).toBeLessThan(150)
  client.socket.resume()
  await client.untilBlock(300)
  expect(client.results.length).toBe(300)
})

test('the devchain sends new blocks as they are produced, and each result names the new block as the head', async () => {
  const { devchain, url } = await serve({ live: { intervalMs: 5 }, startTimeMs: Date.UTC(2030, 0, 1) })
  const client = await connect(url)
  client.request({ start: 965 })
  // The first results may be blocks that were produced before the request.
  const caughtUpAt = (): number => client.results.findIndex(({ num, head }) => num === head)
  await client.until(() => caughtUpAt() !== -1 && client.results.length >= caughtUpAt() + 5)
  devchain.setPaused(true)
  const fresh = client.results.slice(caughtUpAt())
  expect(fresh.map(({ head }) => head)).toEqual(fresh.map(({ num }) => num))
  const { num } = devchain.head()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(devchain.head().num).toBe(num)
})

test('a blocks result of several megabytes arrives complete', async () => {
  const [block] = benchBlocks('empty', 1, genesis)
  const traces = Buffer.alloc(3_500_000, 'large')
  const { num, id, prevId, deltas } = block!
  const { url } = await serve({
    recordings: [],
    append: [{ num, id, prevId, block: block!.block, traces, deltas }],
  })
  const client = await connect(url)
  client.request({})
  await client.untilBlock(1)
  expect(client.results[0]?.traces?.equals(traces)).toBe(true)
})

test('the devchain drops its oldest blocks at the memory limit, and announces the shorter range of blocks', async () => {
  const { devchain, url } = await serve({ retainBytes: 1_500_000 })
  const client = await connect(url)
  await settle(client)
  const [begin, end] = [client.status!.readUInt32LE(73), client.status!.readUInt32LE(77)]
  expect(begin).toBeGreaterThan(500)
  expect(end).toBe(devchain.head().num + 1)
  client.request({ start: 1 })
  await client.untilBlock(devchain.head().num)
  expect(client.results[0]?.num).toBe(begin)
})

test.each<[string, SessionFaults, (client: ShipClient) => Promise<void>]>([
  [
    'a cut connection',
    { dropAfter: 4 },
    async (client) => {
      await client.until(() => client.closed)
      expect(client.results.length).toBeLessThanOrEqual(4)
    },
  ],
  [
    'a gap',
    { skipBlocks: [3, 4] },
    async (client) => {
      await client.untilBlock(7)
      expect(numbers(client.results)).toEqual([1, 2, 5, 6, 7])
    },
  ],
  [
    'a result without a block',
    { emptyBlocks: [2] },
    async (client) => {
      await client.untilBlock(7)
      expect(client.results[1]).toMatchObject({ num: null, block: null })
      expect(client.results[1]!.frame.length).toBe(78)
    },
  ],
  [
    'a disabled log',
    { withoutPayloads: ['deltas'] },
    async (client) => {
      await client.untilBlock(7)
      expect(client.results.every(({ deltas, block }) => deltas === null && block !== null)).toBe(true)
    },
  ],
  [
    'a node that goes silent',
    { silentAfter: 2 },
    async (client) => {
      await client.until(() => client.results.length === 2)
      client.ack(10)
      client.requestStatus()
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect([client.results.length, client.status, client.closed]).toEqual([2, null, false])
    },
  ],
  [
    'another first frame',
    { abiText: '{}' },
    async (client) => {
      await client.untilBlock(7)
      expect(client.abiText).toBe('{}')
    },
  ],
])('the devchain simulates %s, in the first session only', async (_, faults, check) => {
  const { url } = await serve({ faults: (session) => (session === 1 ? faults : undefined) })
  const client = await connect(url)
  client.request({ end: 8 })
  await check(client)
  const healthy = await connect(url)
  healthy.request({ end: 8 })
  await healthy.untilBlock(7)
  expect(numbers(healthy.results)).toEqual(range(1, 7))
})

test('the devchain can send garbage in place of a result', async () => {
  const { url } = await serve({ faults: () => ({ garbageAfter: 2 }) })
  const client = await ShipClient.open(url)
  open.push(client)
  const frames: Buffer[] = []
  client.socket.removeAllListeners('message')
  client.socket.on('message', (data: Buffer) => frames.push(data))
  client.request({ end: 6 })
  while (frames.length < 5) await new Promise((resolve) => setImmediate(resolve))
  expect(frames.map((frame) => frame.length < 73)).toEqual([false, false, true, false, false])
})
