import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Collector } from '../../../tests/ship/collector.ts'
import { Harness, range, until } from '../../../tests/ship/harness.ts'
import type { ScriptedNode } from '../../../tests/ship/scripted-node.ts'
import { plainCodec } from '../../../tests/ship/wire.ts'

const harness = new Harness()
afterEach(() => harness.close())

test('after a lost connection the SHiP client resumes after the last block in the pipeline, not the last received one', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const { collector } = harness.read(url)
  await until('20 blocks', () => collector.blocks.length === 20)
  // The pipeline drops the blocks that it had not committed.
  collector.blocks.length = 12
  node.connections[0]?.socket.close(1001, 'node is shutting down')
  await until('20 blocks again', () => collector.blocks.length === 20)
  expect(collector.nums).toEqual(range(1, 20))
  expect(node.connections[1]?.request).toMatchObject({ start: 13 })
})

test('the SHiP client reads the protocol ABI again on every connect', async () => {
  const { node, url } = await harness.node({ greeting: '{"version":"first"}' })
  node.extend(4)
  const seen: unknown[] = []
  const compileProtocol = (abi: unknown) => {
    seen.push(abi)
    return plainCodec()
  }
  const { collector } = harness.read(url, { compileProtocol })
  await until('4 blocks', () => collector.blocks.length === 4)
  node.script.greeting = '{"version":"second"}'
  node.connections[0]?.socket.terminate()
  node.extend(1)
  await until('5 blocks', () => collector.blocks.length === 5)
  expect(seen).toEqual([{ version: 'first' }, { version: 'second' }])
  expect(collector.protocols).toHaveLength(2)
  expect(collector.connections).toEqual([1, 1, 1, 1, 2])
})

test('the SHiP client resets its back-off after a healthy connection', async () => {
  const { node, url } = await harness.node()
  node.extend(3)
  // Without a reset of the back-off, the last delay alone would be 20 s.
  const timing = { goodServiceMs: 0, backoffMinMs: 40, backoffMaxMs: 3_600_000 }
  const { session } = harness.read(url, { timing })
  for (let connection = 1; connection <= 12; connection++) {
    await until('service', () => session.status().state === 'streaming')
    expect(session.status().credits).toBeGreaterThan(0)
    node.connections.at(-1)?.socket.terminate()
    await until('the loss', () => session.status().state !== 'streaming')
    expect(session.status().credits).toBe(0)
  }
})

test('the SHiP client drops late frames of a closed connection', async () => {
  const { node, url } = await harness.node({
    tamper: (block, connection) => {
      if (connection === 1 && block.num === 5) return Buffer.from('09', 'hex')
      return block
    },
  })
  // Blocks 6 to 40 arrive in the same chunk as the damaged message of the first connection.
  node.extend(40)
  const { collector } = harness.read(url)
  await until('40 blocks', () => collector.blocks.length === 40)
  expect(collector.nums).toEqual(range(1, 40))
  expect(collector.connections.slice(4).every((opened) => opened === 2)).toBe(true)
})

test('the SHiP client stops if a node sends an unreadable message again after a reconnect, and the error names the block', async () => {
  const { node, url } = await harness.node({
    tamper: (block) => (block.num === 5 ? Buffer.from('01ffff', 'hex') : block),
  })
  node.extend(9)
  const { done } = harness.read(url)
  expect(await done).toMatchObject({
    code: 'SHIP_BLOCK_UNREADABLE',
    details: { block_num: 5, start: 6 },
    message: expect.stringContaining('block 5') as string,
    cause: expect.any(RangeError) as Error,
  })
  expect(node.connections).toHaveLength(2)
})

test.each([
  ['binary', Buffer.from([0]), /first frame/],
  ['no JSON', 'hello', /protocol ABI/],
])('the SHiP client stops when the greeting is %s', async (_, greeting, message) => {
  const { node, url } = await harness.node({ greeting })
  node.extend(3)
  const { done } = harness.read(url)
  expect(await done).toMatchObject({
    code: 'SHIP_PROTOCOL',
    message: expect.stringMatching(message) as string,
  })
})

/** Newest connection that requested blocks; the other connections only poll the status. */
const streamOf = (node: ScriptedNode) => node.connections.findLast(({ request }) => request !== null)

test('the SHiP client switches to the second node when the first connection is lost, and later back to the first node', async () => {
  const first = await harness.node()
  const second = await harness.node()
  for (const { node } of [first, second]) node.extend(5)
  const { collector, session } = harness.read([first.url, second.url])
  await until('5 blocks', () => collector.blocks.length === 5)
  for (const { node } of [first, second]) node.extend(5)
  await until('10 blocks', () => collector.blocks.length === 10)
  streamOf(first.node)?.socket.terminate()
  await until(
    'the second node',
    () => session.status().state === 'streaming' && session.status().url === `${second.url}/`,
  )
  for (const { node } of [first, second]) node.extend(5)
  await until('15 blocks', () => collector.blocks.length === 15)
  streamOf(second.node)?.socket.terminate()
  for (const { node } of [first, second]) node.extend(5)
  await until('20 blocks', () => collector.blocks.length === 20)
  expect(session.status().url).toBe(`${first.url}/`)
  expect(collector.nums).toEqual(range(1, 20))
})

test('the SHiP client skips a node that lacks the needed blocks, and stops if no node has these blocks', async () => {
  const pruned = await harness.node({ ranges: { traceBegin: 8, stateBegin: 8 } })
  const whole = await harness.node()
  for (const { node } of [pruned, whole]) node.extend(10)
  const run = harness.read([pruned.url, whole.url])
  await until('10 blocks', () => run.collector.blocks.length === 10)
  const none = harness.read([pruned.url, pruned.url])
  expect(await none.done).toMatchObject({ code: 'SHIP_RANGE_UNAVAILABLE' })
  expect(none.session.status().connections).toBe(2)
})

test('the SHiP client switches to another node if its node stays behind', async () => {
  const behind = await harness.node()
  const whole = await harness.node()
  whole.node.extend(12)
  behind.node.extend(3)
  const collector = new Collector()
  collector.blocks.push(...range(1, 9).map((num) => ({ num, id: whole.node.chain[num]!.id.toString('hex') })))
  harness.read([behind.url, whole.url], { timing: { behindTimeoutMs: 30 } }, collector)
  await until('block 12', () => collector.nums.at(-1) === 12)
  expect(collector.forks).toEqual([])
})

test('the SHiP client abandons a message above the size limit, and names the block and the limit', async () => {
  const { node, url } = await harness.node({
    tamper: (block) => (block.num === 4 ? { ...block, deltas: Buffer.alloc(200_000) } : block),
  })
  node.extend(6)
  const { done, collector } = harness.read(url, { maxMessageBytes: 100_000 })
  expect(await done).toMatchObject({
    code: 'SHIP_MESSAGE_TOO_LARGE',
    message: expect.stringMatching(/block 4 .* 100000 bytes/) as string,
  })
  expect(collector.nums).toEqual([1, 2, 3])
})

test.each([0, 2 ** 20, 300])(
  'the SHiP client assembles a large message from fragments of %i bytes',
  async (fragmentBytes) => {
    const deltas = Buffer.alloc(fragmentBytes === 300 ? 6_000_000 : 40_000_000, 7)
    const { node, url } = await harness.node({
      fragmentBytes,
      tamper: (block) => (block.num === 3 ? { ...block, deltas } : block),
    })
    node.extend(4)
    const { collector } = harness.read(url)
    await until('4 blocks', () => collector.blocks.length === 4)
    expect(deltas.equals(collector.received[2]!.deltas!)).toBe(true)
  },
)

test('the SHiP client reconnects when the stream falls silent although the node has more blocks', async () => {
  const { node, url } = await harness.node({
    tamper: (block, connection) => (connection === 1 && block.num > 4 ? null : block),
  })
  node.extend(9)
  const { collector, session } = harness.read(url, { timing: { idleTimeoutMs: 200 } })
  await until('9 blocks', () => collector.blocks.length === 9)
  expect(session.status().connections).toBeGreaterThan(1)
  expect(session.status().lastProblem).toContain('has stopped sending')
})

test('the SHiP client does not report a silent stream while it withholds credits itself', async () => {
  const { node, url } = await harness.node()
  node.extend(60)
  node.libNum = 60
  const collector = new Collector()
  collector.holds = true
  const { session } = harness.read(url, { prefetchBlocks: 10, timing: { idleTimeoutMs: 40 } }, collector)
  await until('10 blocks', () => collector.blocks.length === 10)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(session.status()).toMatchObject({ connections: 1, credits: 0, heldBlocks: 10 })
  collector.holds = false
  session.release(10, session.status().heldBytes)
  await until('60 blocks', () => collector.blocks.length === 60)
})

test('the SHiP client detects a node that answers neither pings nor the handshake', async () => {
  const sockets: Socket[] = []
  const mute = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const muteUrl = `ws://127.0.0.1:${(mute.address() as AddressInfo).port}`
  const { node, url } = await harness.node()
  node.extend(3)
  const timing = { handshakeTimeoutMs: 50, pingIntervalMs: 40, pongTimeoutMs: 40 }
  const { collector, session } = harness.read([muteUrl, url], { timing })
  await until('3 blocks', () => collector.blocks.length === 3)
  const faults = () => session.status().nodes.map(({ lastFault }) => lastFault ?? '')
  expect(faults()[0]).toContain('handshake')
  // The node's websocket library no longer answers pings from here on.
  streamOf(node)!.socket.pause()
  await until('the loss of the stream', () => faults()[1]!.includes('ping'))
  for (const socket of sockets) socket.destroy()
  mute.close()
})

test('the SHiP client detects a node that does not answer status requests', async () => {
  const { node, url } = await harness.node({ answersStatus: false })
  node.extend(3)
  const { collector, session } = harness.read(url, { timing: { replyTimeoutMs: 60 } })
  await until('a second connection', () => node.connections.length > 1)
  expect(session.status().lastProblem).toContain('status request')
  node.script.answersStatus = true
  await until('3 blocks', () => collector.blocks.length === 3)
})
