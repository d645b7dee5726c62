import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Collector } from '../../../../tests/ship/collector.ts'
import { Harness, range, until } from '../../../../tests/ship/harness.ts'
import type { NodeScript, ScriptedNode } from '../../../../tests/ship/scripted-node.ts'

const harness = new Harness()
afterEach(() => harness.close())

/** Starts nodes that all have the same `count` blocks, the last 10 of them reversible. */
async function nodesWith(count: number, scripts: Partial<NodeScript>[]) {
  const made = await Promise.all(scripts.map((script) => harness.node(script)))
  for (const { node } of made) {
    node.libNum = count - 10
    node.extend(count)
  }
  return { nodes: made.map(({ node }) => node), urls: made.map(({ url }) => url) }
}

function killConnections({ connections }: ScriptedNode): void {
  for (const { socket } of connections) socket.terminate()
}

/** Number of blocks that were requested from a node as ranges. Only a multi-node session requests ranges. */
function requested(node: ScriptedNode): number {
  return node.connections
    .flatMap(({ requests }) => requests.filter(({ irreversibleOnly }) => irreversibleOnly))
    .reduce((sum, { start, end }) => sum + end - start, 0)
}

/** Reads all blocks and expects each of them once, in order. */
async function readAll(urls: Parameters<Harness['read']>[0], count: number, options = {}) {
  const run = harness.read(urls, { stopBlock: count, ...options })
  expect(await run.done).toBeUndefined()
  expect(run.collector.nums).toEqual(range(1, count))
  return run
}

test('the client of several nodes requests ranges from all nodes concurrently and delivers the blocks in order', async () => {
  const { nodes, urls } = await nodesWith(2_000, [{}, {}, {}])
  const { session, collector } = await readAll(urls, 2_000)
  expect(collector.forks).toEqual([])
  for (const node of nodes) expect(requested(node)).toBeGreaterThan(0)
  const { nodes: statuses } = session.status()
  expect(statuses.map(({ faults }) => faults)).toEqual([0, 0, 0])
  expect(statuses.reduce((sum, { blocksReceived }) => sum + blocksReceived, 0)).toBe(2_000)
  // Ranges contain irreversible blocks only, and no block is requested twice. The streaming node sends the last 10
  // blocks.
  expect(nodes.reduce((sum, node) => sum + requested(node), 0)).toBe(1_990)
})

test('the client of several nodes buffers no more than its byte budget while the first range is late', async () => {
  const { nodes, urls } = await nodesWith(3_000, [{}, {}])
  // No node sends block 40 at first.
  for (const { script } of nodes) {
    script.tamper = (block) => (block.num === 40 ? null : { ...block, deltas: Buffer.alloc(30_000) })
  }
  const { session, collector } = harness.read(urls, { stopBlock: 3_000, maxBytesInFlight: 2 ** 20 })
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, session.status().heldBytes)), 1)
  await until('block 39', () => collector.nums.at(-1) === 39)
  await delay(300)
  for (const node of nodes) node.script.tamper = (block) => block
  clearInterval(watch)
  expect(most).toBeLessThan(4 * 2 ** 20)
  expect(collector.nums).toEqual(range(1, 39))
})

test.each<[string, (node: ScriptedNode) => void, Partial<NodeScript>]>([
  ['is killed', killConnections, {}],
  ['falls silent', (node) => (node.script.tamper = () => null), {}],
  ['sends garbage', (node) => (node.script.tamper = () => Buffer.from('01ffff', 'hex')), {}],
  ['leaves blocks out', (node) => (node.script.tamper = (block) => (block.num % 7 === 0 ? null : block)), {}],
  ['lacks payloads', (node) => (node.script.tamper = (block) => ({ ...block, traces: null })), {}],
])('the client of several nodes delivers all blocks in order although a node %s', async (_, spoil) => {
  const { nodes, urls } = await nodesWith(4_000, [{}, {}, {}])
  const collector = new Collector()
  let isSpoilt = false
  collector.inspect = ({ num }) => {
    if (isSpoilt || num < 500) return
    isSpoilt = true
    spoil(nodes[1]!)
  }
  const run = harness.read(urls, { stopBlock: 4_000 }, collector)
  expect(await run.done).toBeUndefined()
  expect(collector.nums).toEqual(range(1, 4_000))
  expect(collector.forks).toEqual([])
})

test('the client of several nodes refuses a node of another chain and continues with the others', async () => {
  const { nodes, urls } = await nodesWith(1_000, [{ chainId: Buffer.alloc(32, 1) }, {}, {}])
  const { session } = await readAll(urls, 1_000)
  expect(requested(nodes[0]!)).toBe(0)
  expect(session.status().nodes[0]).toMatchObject({ blocksReceived: 0, state: 'failed' })
  expect(session.status().nodes[0]!.lastFault).toContain('serves chain 0101')
})

test.each([
  // The node with the greatest weight gets the first range, whose first block is compared with the last delivered block
  // at once.
  ['first', 2],
  ['second', 0.5],
])(
  'the client of several nodes delivers nothing from a node whose blocks do not link, although the client assigns the %s range to that node',
  async (_, weight) => {
    // The second node is of another chain. Like EOSIO 2.0 it sends no chain id, and its blocks link to each other.
    const made = await Promise.all([harness.node({}), harness.node({ chainId: null }), harness.node({})])
    for (const [place, { node }] of made.entries()) {
      node.libNum = 2_990
      node.extend(3_000, place === 1 ? 'other' : 'a')
    }
    const collector = new Collector()
    const { node, url } = made[0]
    collector.blocks.push({ num: 1, id: node.chain[1]!.id.toString('hex') })
    const nodes = [url, { url: made[1].url, weight }, made[2].url]
    const run = harness.read(nodes, { stopBlock: 3_000 }, collector)
    expect(await run.done).toBeUndefined()
    expect(collector.blocks.map(({ id }) => id)).toEqual(
      node.chain.slice(1).map(({ id }) => id.toString('hex')),
    )
    expect(run.session.status().nodes[1]!.lastFault).toContain('does not follow')
  },
)

test('the client of several nodes requests from a node with partial history only the blocks that it has', async () => {
  const { nodes, urls } = await nodesWith(3_000, [
    { ranges: { traceEnd: 1_501, stateEnd: 1_501 } },
    { ranges: { traceBegin: 1_400, stateBegin: 1_400 } },
  ])
  await readAll(urls, 3_000)
  for (const node of nodes) expect(requested(node)).toBeGreaterThan(1_300)
})

test('the client of several nodes streams blocks from a node that still reports the blocks as reversible', async () => {
  const { nodes, urls } = await nodesWith(500, [{}, { ranges: { traceEnd: 401, stateEnd: 401 } }])
  nodes[0]!.libNum = 480
  nodes[1]!.libNum = 495
  await readAll(urls, 500)
})

test('the client of several nodes requests from each node only its configured blocks, in proportion to its weight', async () => {
  const { nodes, urls } = await nodesWith(3_000, [{}, {}, {}])
  const configured = [
    { url: urls[0]!, to: 1_000 },
    { url: urls[1]!, from: 1_001 },
    { url: urls[2]!, weight: 0.1 },
  ]
  await readAll(configured, 3_000)
  const numbers = (node: ScriptedNode) =>
    node.connections.flatMap(({ requests }) => requests.flatMap(({ start, end }) => [start, end - 1]))
  expect(Math.max(...numbers(nodes[0]!))).toBeLessThanOrEqual(1_000)
  expect(Math.min(...numbers(nodes[1]!))).toBeGreaterThanOrEqual(1_001)
  expect(requested(nodes[2]!)).toBeLessThan(requested(nodes[1]!))
})

test('the client of several nodes stops if no node has a block, and names the block', async () => {
  const { urls } = await nodesWith(500, [
    { ranges: { traceEnd: 201, stateEnd: 201 } },
    { ranges: { traceBegin: 300, stateBegin: 300 } },
  ])
  const run = harness.read(urls, { stopBlock: 500 })
  expect(await run.done).toMatchObject({
    code: 'SHIP_RANGE_UNAVAILABLE',
    message: expect.stringContaining('block 201') as string,
  })
  expect(run.collector.nums).toEqual(range(1, 200))
})

test('the client of several nodes stops with the error of the consumer while ranges are read', async () => {
  const { urls } = await nodesWith(1_000, [{}, {}])
  const collector = new Collector()
  collector.inspect = ({ num }) => {
    if (num === 300) throw new Error('the pipeline broke')
  }
  const run = harness.read(urls, { stopBlock: 1_000 }, collector)
  expect(await run.done).toMatchObject({ message: 'the pipeline broke' })
})

test('the client of several nodes delivers all blocks although one node falls silent and planned ranges exceed the byte budget', async () => {
  const { nodes, urls } = await nodesWith(3_000, [{}, {}])
  const [gone, well] = nodes
  // From block 601 on the blocks are much larger, so ranges planned for small blocks exceed their byte budget.
  well!.script.tamper = (block) => (block.num > 600 ? { ...block, deltas: Buffer.alloc(60_000) } : block)
  gone!.script.tamper = (block) => (block.num > 600 ? null : block)
  const run = harness.read(urls, { stopBlock: 3_000, maxBytesInFlight: 2 ** 20 })
  expect(await run.done).toBeUndefined()
  expect(run.collector.nums).toEqual(range(1, 3_000))
})

test('the client of several nodes uses a node again that temporarily sent no protocol ABI', async () => {
  const { nodes, urls } = await nodesWith(300, [{}, {}])
  const [first, other] = nodes
  const { collector, session } = harness.read(urls)
  const faults = () => session.status().nodes[0]!.faults
  await until('all is read', () => collector.nums.at(-1) === 300)
  const { greeting } = first!.script
  first!.script.greeting = 'not ready'
  const before = faults()
  killConnections(first!)
  await until('it is refused', () => faults() >= before + 4)
  first!.script.greeting = greeting
  await until('it answers', () => ['watched', 'followed'].includes(session.status().nodes[0]!.state))
  await other!.close()
  first!.extend(5)
  await until('its blocks are read', () => collector.nums.at(-1) === 305)
})

test.each<[what: string, begin: (node: ScriptedNode) => void, branch: string]>([
  [
    'a block that every node sends only after the time limit for a switch to another node',
    () => undefined,
    'a',
  ],
  [
    'a fork that every node sends only after the time limit for a node on another branch',
    (node) => node.fork(28, 3, 'b'),
    'b',
  ],
])('the client of several nodes reads %s', async (_, begin, branch) => {
  const { nodes, urls } = await nodesWith(30, [{}, {}])
  // The time allowed on another branch (`otherBranchMs`) grows from 5 ms to at most 640 ms, by seven doublings. A node
  // sends its first block only after 1,000 ms. So if a node kept `otherBranchSince` from an earlier stream, every new
  // stream would end before its first block.
  const run = harness.read(urls, { timing: { takeoverMs: 60, otherBranchMs: 5 } })
  await until('all is read', () => run.collector.nums.at(-1) === 30)
  for (const { script } of nodes) script.firstBlockMs = 1_000
  nodes.forEach(killConnections)
  nodes.forEach(begin)
  // Give the session time to stream from each node once and to compare the head of the other node with the last
  // received block.
  await delay(200)
  nodes.forEach(killConnections)
  await delay(200)
  for (const node of nodes) node.extend(3, branch)
  await until('the new blocks are read', () => run.collector.nums.at(-1) === 33)
  expect(run.collector.blocks.map(({ id }) => id)).toEqual(
    nodes[0]!.chain.slice(1).map(({ id }) => id.toString('hex')),
  )
  await run.stop()
})
