import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Collector } from '../../../tests/ship/collector.ts'
import { Harness, range, until } from '../../../tests/ship/harness.ts'
import type { NodeConnection } from '../../../tests/ship/scripted-node.ts'

const harness = new Harness()
afterEach(() => harness.close())

/** Sends a part of a message at an interval until the connection closes or `bytes` are sent. */
async function drip(
  connection: NodeConnection,
  partBytes: number,
  everyMs: number,
  bytes = Infinity,
): Promise<void> {
  for (let sent = 0; sent < bytes && connection.socket.readyState === 1; sent += partBytes) {
    connection.socket.send(Buffer.alloc(partBytes), { fin: false })
    await delay(everyMs)
  }
}

/** Starts a node whose first connection sends no block, and a session that reads it. */
async function readDripping(timing: object) {
  const { node, url } = await harness.node({
    tamper: (block, connection) => (connection === 1 ? null : block),
  })
  node.extend(5)
  const run = harness.read(url, { timing })
  await until('the request', () => (node.connections[0]?.requests.length ?? 0) > 0)
  return { node, ...run }
}

test('the SHiP client disconnects from a node that sends a message byte by byte, and logs the reason', async () => {
  const timing = { idleTimeoutMs: 10_000, slowMessageTimeoutMs: 400, minBytesPerSecond: 65_536 }
  const { node, session, collector, log } = await readDripping(timing)
  // The node sends more bytes than pongs have, but far fewer per second than any network transfers. The idle time-out
  // alone would never close the connection.
  const dripping = drip(node.connections[0]!, 300, 20)
  await until('part of a message', () => session.status().unfinishedBytes > 1_000)
  await until('5 blocks', () => collector.blocks.length === 5)
  expect(collector.nums).toEqual(range(1, 5))
  expect(session.status()).toMatchObject({ connections: 2, unfinishedBytes: 0 })
  expect(log.map(({ message }) => message)).toContainEqual(expect.stringContaining('arrives too slowly'))
  await dripping
})

test('the SHiP client disconnects from a node whose message never completes, at whatever rate', async () => {
  const timing = { slowMessageTimeoutMs: 200, minBytesPerSecond: 1, messageTimeoutMs: 600 }
  const { node, collector, session } = await readDripping(timing)
  const dripping = drip(node.connections[0]!, 20_000, 20)
  await until('5 blocks', () => collector.blocks.length === 5)
  expect(session.status().lastProblem).toContain('is not complete after')
  await dripping
})

test('the SHiP client stays connected to a node that sends a large message over a slow network', async () => {
  const timing = { idleTimeoutMs: 300, slowMessageTimeoutMs: 300, minBytesPerSecond: 65_536 }
  const { node, session } = await readDripping(timing)
  await drip(node.connections[0]!, 10_000, 20, 500_000)
  expect(session.status()).toMatchObject({ connections: 1, lastProblem: null })
})

test('the SHiP client refuses a protocol ABI above the size limit, without assembling it', async () => {
  const padding = ' '.repeat(2 * 2 ** 20)
  const { node, url } = await harness.node({ greeting: `{"version":"eosio::abi/1.1"}${padding}` })
  node.extend(3)
  const { done, collector } = harness.read(url)
  expect(await done).toMatchObject({
    code: 'SHIP_PROTOCOL',
    message: expect.stringContaining('exceeds the size limit') as string,
  })
  expect(collector.protocols).toEqual([])
})

test('the SHiP client refuses a status reply above the size limit', async () => {
  const { node, url } = await harness.node({ answersStatus: false })
  const { done } = harness.read(url)
  for (const connection of [0, 1]) {
    await until('a status request', () => (node.connections[connection]?.statusRequests ?? 0) > 0)
    node.connections[connection]!.socket.send(Buffer.alloc(500_000))
  }
  expect(await done).toMatchObject({ message: expect.stringContaining('exceeds the size limit') as string })
})

test('the SHiP client refuses a message of too many fragments', async () => {
  const { node, url } = await harness.node({
    fragmentBytes: 1,
    tamper: (block) => ({ ...block, deltas: Buffer.alloc(6_000) }),
  })
  node.extend(1)
  const { done } = harness.read(url, { maxMessageBytes: 2 ** 20 })
  expect(await done).toMatchObject({
    code: 'SHIP_BLOCK_UNREADABLE',
    message: expect.stringContaining('too many small fragments') as string,
  })
})

test('the SHiP client stops reading while the pipeline holds twice the byte budget, whatever the sizes of the blocks', async () => {
  const { node, url } = await harness.node({
    tamper: (block) => (block.num <= 2 ? block : { ...block, deltas: Buffer.alloc(2 * 2 ** 20) }),
  })
  node.extend(2)
  const collector = new Collector()
  collector.holds = true
  const maxBytesInFlight = 8 * 2 ** 20
  const timing = { pingIntervalMs: 50, pongTimeoutMs: 50, idleTimeoutMs: 300 }
  const { session } = harness.read(url, { maxBytesInFlight, timing }, collector)
  await until('the stream', () => collector.blocks.length === 2)
  // The node already has credits for more than 20 messages: the reader granted the credits before it knew the size of a
  // block.
  expect(session.status().credits).toBeGreaterThan(20)
  node.extend(50)
  await until('the budget to be used up', () => session.status().heldBytes >= 2 * maxBytesInFlight)
  await delay(500)
  const { heldBytes, heldBlocks } = session.status()
  expect(heldBytes).toBeLessThan(2 * maxBytesInFlight + 2 * 2.1 * 2 ** 20)
  collector.holds = false
  session.release(heldBlocks, heldBytes)
  await until('52 blocks', () => collector.blocks.length === 52)
  expect(session.status()).toMatchObject({ connections: 1, heldBytes: 0 })
})
