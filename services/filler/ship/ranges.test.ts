import { afterEach, expect, test } from 'vitest'
import { Collector } from '../../../tests/ship/collector.ts'
import { Harness, range, until } from '../../../tests/ship/harness.ts'

const harness = new Harness()
afterEach(() => harness.close())

const unavailable = (message: RegExp) => ({
  code: 'SHIP_RANGE_UNAVAILABLE',
  message: expect.stringMatching(message) as string,
})
const incomplete = (message: RegExp) => ({ ...unavailable(message), code: 'SHIP_BLOCK_UNREADABLE' })

test.each([
  ['trace-history', { traceBegin: 0, traceEnd: 0 }],
  ['chain-state-history', { stateBegin: 0, stateEnd: 0 }],
])('the SHiP client refuses a node with %s turned off, before it requests blocks', async (option, ranges) => {
  const { node, url } = await harness.node({ ranges })
  node.extend(20)
  const { done } = harness.read(url)
  expect(await done).toMatchObject({
    code: 'SHIP_LOG_DISABLED',
    message: expect.stringContaining(`(${option}) of the node is turned off`) as string,
  })
  expect(node.connections[0]?.requests).toEqual([])
})

test('the SHiP client refuses a start block below the first block in the logs of the node, and the error names that first block', async () => {
  const { node, url } = await harness.node({ ranges: { traceBegin: 10, stateBegin: 10 } })
  node.extend(20)
  const { done } = harness.read(url, { startBlock: 9 })
  expect(await done).toMatchObject(unavailable(/^the node has no blocks before 10, but block 9 is needed$/))
})

test("the SHiP client refuses a start block that only one of the node's two logs covers", async () => {
  const { node, url } = await harness.node({ ranges: { traceBegin: 15, stateBegin: 1 } })
  node.extend(20)
  const { done } = harness.read(url, { startBlock: 1 })
  expect(await done).toMatchObject(
    unavailable(/lacks traces or chain state of blocks before 15, but block 1 is needed.*traces \[15, 21\)/),
  )
})

test('the SHiP client refuses a node whose log ends long before the head', async () => {
  const { node, url } = await harness.node({ ranges: { traceEnd: 12 } })
  node.extend(30)
  const { done } = harness.read(url, { startBlock: 20 })
  expect(await done).toMatchObject(
    unavailable(/a log of the node ends before block 12, but block 20 is needed/),
  )
})

test('the SHiP client refuses to continue with a node that was restored without the needed history', async () => {
  const { node, url } = await harness.node()
  node.extend(10)
  const { collector, done } = harness.read(url)
  await until('10 blocks', () => collector.blocks.length === 10)
  node.script.ranges = { traceBegin: 40, stateBegin: 40 }
  node.connections[0]?.socket.close(1001)
  node.extend(50)
  node.connections[0]?.socket.terminate()
  expect(await done).toMatchObject({ code: 'SHIP_RANGE_UNAVAILABLE' })
})

test('the SHiP client accepts block 1 without traces, and logs the missing traces once', async () => {
  const { node, url } = await harness.node({
    ranges: { traceBegin: 2 },
    tamper: (block) => (block.num === 1 ? { ...block, traces: null } : block),
  })
  node.extend(5)
  const { collector, log } = harness.read(url)
  await until('5 blocks', () => collector.blocks.length === 5)
  expect(collector.received[0]).toMatchObject({ num: 1, traces: null })
  expect(log.filter(({ message }) => message.includes('payloads'))).toMatchObject([{ level: 'info' }])
})

test("the SHiP client begins at block 2 if the node's logs begin there", async () => {
  const { node, url } = await harness.node({ ranges: { traceBegin: 2, stateBegin: 2 } })
  node.extend(5)
  const { collector } = harness.read(url)
  await until('4 blocks', () => collector.blocks.length === 4)
  expect(collector.nums).toEqual(range(2, 5))
})

test.each(['block', 'traces', 'deltas'] as const)(
  'the SHiP client stops at a result whose field %s is missing, and the error names the block',
  async (payload) => {
    const { node, url } = await harness.node({
      tamper: (block) => (block.num === 7 ? { ...block, [payload]: null } : block),
    })
    node.extend(10)
    const { done, collector } = harness.read(url)
    expect(await done).toMatchObject(incomplete(new RegExp(`block 7 came without ${payload};.*traces \\[1,`)))
    expect(collector.nums).toEqual(range(1, 6))
  },
)

test('the SHiP client treats an empty payload as missing', async () => {
  const { node, url } = await harness.node({
    tamper: (block) => (block.num === 3 ? { ...block, deltas: Buffer.alloc(0) } : block),
  })
  node.extend(5)
  const { done } = harness.read(url)
  expect(await done).toMatchObject(incomplete(/block 3 came without deltas/))
})

test('the SHiP client reports a missing range if a result lacks a block that the node should have', async () => {
  const { node, url } = await harness.node()
  node.extend(10)
  for (const num of [6, 7]) Reflect.deleteProperty(node.chain, num)
  const { done, collector } = harness.read(url)
  expect(await done).toMatchObject({ code: 'SHIP_RANGE_MISSING', details: { first_num: 6, last_num: 6 } })
  expect(collector.nums).toEqual(range(1, 5))
  expect(node.connections).toHaveLength(2)
})

test('the SHiP client detects that Leap started the stream above the requested block without an error', async () => {
  const { node, url } = await harness.node({ clampsStart: true })
  node.extend(20)
  // The node prunes its log after the status reply and before the blocks request.
  node.script.onRequest = () => {
    node.script.ranges = { traceBegin: 8, stateBegin: 8 }
  }
  const { done, collector } = harness.read(url, { startBlock: 3 })
  expect(await done).toMatchObject(unavailable(/no blocks before 8, but block 3 is needed/))
  expect(node.connections).toHaveLength(2)
  expect(collector.blocks).toEqual([])
})

test('the SHiP client names the missing blocks if the node starts late although its reported ranges cover the start', async () => {
  const { node, url } = await harness.node({ tamper: (block) => (block.num < 8 ? null : block) })
  node.extend(20)
  const { done, collector } = harness.read(url, { startBlock: 3 })
  expect(await done).toMatchObject({
    code: 'SHIP_RANGE_MISSING',
    message: expect.stringContaining('blocks 3 to 7') as string,
    details: { first_num: 3, last_num: 7 },
  })
  expect(collector.blocks).toEqual([])
})

test('the SHiP client reconnects at a gap, and continues if the gap was temporary', async () => {
  const { node, url } = await harness.node({
    tamper: (block, connection) => (connection === 1 && block.num === 6 ? null : block),
  })
  node.extend(10)
  const { collector, session } = harness.read(url)
  await until('10 blocks', () => collector.blocks.length === 10)
  expect(collector.nums).toEqual(range(1, 10))
  expect(node.connections[1]?.request).toMatchObject({ start: 6 })
  expect(session.status()).toMatchObject({ connections: 2 })
})

test('the SHiP client does not count a second gap as repeated if a block arrived between the two gaps', async () => {
  const { node, url } = await harness.node({
    tamper: (block, connection) => (block.num === 3 + 2 * connection ? null : block),
  })
  node.extend(30)
  const { collector, session } = harness.read(url)
  await until('30 blocks', () => collector.blocks.length === 30)
  expect(collector.nums).toEqual(range(1, 30))
  expect(session.status().connections).toBeGreaterThan(5)
})

test('the SHiP client stops at a repeated gap, and the error names the missing range', async () => {
  const { node, url } = await harness.node({ tamper: (block) => ([6, 7].includes(block.num) ? null : block) })
  node.extend(10)
  const { done, collector } = harness.read(url)
  expect(await done).toMatchObject({ code: 'SHIP_RANGE_MISSING', details: { first_num: 6, last_num: 7 } })
  expect(collector.nums).toEqual(range(1, 5))
})

test('the SHiP client waits for a node that is behind instead of rolling back', async () => {
  const { node, url } = await harness.node()
  node.extend(5)
  const ahead = await harness.node()
  ahead.node.extend(9)
  const collector = new Collector()
  collector.blocks.push(...range(1, 9).map((num) => ({ num, id: ahead.node.chain[num]!.id.toString('hex') })))
  const { session, log } = harness.read(url, {}, collector)
  await until('a few polls', () => (node.connections[0]?.statusRequests ?? 0) > 3)
  expect(session.status().state).toBe('waiting')
  expect(node.connections[0]?.requests).toEqual([])
  expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1)
  node.extend(6)
  await until('block 11', () => collector.nums.at(-1) === 11)
  expect(collector.forks).toEqual([])
  expect(node.connections).toHaveLength(1)
})

test('the SHiP client waits for a start block that does not exist yet', async () => {
  const { node, url } = await harness.node()
  node.extend(3)
  const { collector, session } = harness.read(url, { startBlock: 6 })
  await until('waiting', () => session.status().state === 'waiting')
  node.extend(5)
  await until('3 blocks', () => collector.blocks.length === 3)
  expect(collector.nums).toEqual([6, 7, 8])
})

test("the SHiP client sends no block positions below the first block of the node's logs", async () => {
  const { node, url } = await harness.node({ ranges: { traceBegin: 8, stateBegin: 8 } })
  node.extend(12)
  const collector = new Collector()
  collector.blocks.push(...range(5, 10).map((num) => ({ num, id: node.chain[num]!.id.toString('hex') })))
  harness.read(url, {}, collector)
  await until('block 12', () => collector.nums.at(-1) === 12)
  expect(node.connections[0]?.request?.havePositions.map(({ num }) => num)).toEqual([8, 9, 10])
})
