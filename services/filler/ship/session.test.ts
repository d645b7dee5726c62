import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Harness, range, until } from '../../../tests/ship/harness.ts'
import { Collector } from '../../../tests/ship/collector.ts'
import { createShipSession } from './session.ts'

const harness = new Harness()
afterEach(() => harness.close())

test('the SHiP client requests the status first, then blocks, and delivers them in order', async () => {
  const { node, url } = await harness.node()
  node.extend(30)
  const { collector, session } = harness.read(url)
  await until('30 blocks', () => collector.blocks.length === 30)
  expect(collector.nums).toEqual(range(1, 30))
  expect(collector.blocks.map(({ id }) => id)).toEqual(
    node.chain.slice(1).map(({ id }) => id.toString('hex')),
  )
  expect(collector.received[4]?.prevId).toBe(node.chain[4]?.id.toString('hex'))
  expect(node.connections[0]?.statusRequests).toBe(1)
  expect(node.connections[0]?.request).toMatchObject({ start: 1, end: 0xffffffff, havePositions: [] })
  node.extend(3)
  await until('33 blocks', () => collector.blocks.length === 33)
  expect(session.status()).toMatchObject({
    state: 'streaming',
    url: `${url}/`,
    connections: 1,
    headNum: 33,
    lastBlock: collector.blocks.at(-1),
    blocksReceived: 33,
    heldBlocks: 0,
    heldBytes: 0,
    forks: 0,
    lastProblem: null,
  })
})

test("the SHiP client delivers each block with the node's head, and the payloads as views of the received message", async () => {
  const { node, url } = await harness.node()
  node.extend(3)
  node.libNum = 1
  const { collector } = harness.read(url)
  await until('3 blocks', () => collector.blocks.length === 3)
  const block = collector.received[1]!
  expect(Buffer.from(block.header!)).toEqual(node.chain[2]?.block)
  expect(block).toMatchObject({ num: 2, head: { num: 3 }, lib: { num: 1 } })
  expect(block.traces).toHaveLength(1)
  expect(block.traces?.buffer).toBe(block.deltas?.buffer)
})

test('the SHiP client delivers the blocks up to stop_block, and ends once the pipeline has released all blocks', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const collector = new Collector()
  collector.holds = true
  const { session, done } = harness.read(url, { stopBlock: 12, prefetchBlocks: 100 }, collector)
  await until('the end', () => collector.ended === 1)
  expect(collector.nums).toEqual(range(1, 12))
  expect(node.connections[0]?.request?.end).toBe(13)
  expect(session.status()).toMatchObject({
    heldBlocks: 12,
    state: expect.not.stringMatching('ended') as string,
  })
  session.release(12, session.status().heldBytes)
  expect(await done).toBeUndefined()
  expect(session.status().state).toBe('ended')
})

test('the SHiP client opens no connection if the block at stop_block is already indexed', async () => {
  const { node, url } = await harness.node()
  node.extend(5)
  const collector = new Collector()
  collector.blocks.push({ num: 3, id: node.chain[3]!.id.toString('hex') })
  const { done } = harness.read(url, { stopBlock: 3 }, collector)
  expect(await done).toBeUndefined()
  expect(node.connections).toHaveLength(0)
})

test('the SHiP client delivers nothing above the last irreversible block with irreversible_only', async () => {
  const { node, url } = await harness.node({ announcesHeads: true })
  node.extend(20)
  node.libNum = 8
  const { collector } = harness.read(url, { irreversibleOnly: true })
  await until('8 blocks', () => collector.blocks.length === 8)
  // Without a new irreversible block, the node answers each new head with a result without a block. Each such result
  // costs a credit, which the client must grant again.
  for (let count = 0; count < 200; count++) node.extend(1)
  node.libNum = 100
  node.serveAll()
  await until('100 blocks', () => collector.blocks.length === 100)
  expect(collector.nums).toEqual(range(1, 100))
  expect(node.connections[0]?.request).toMatchObject({ irreversibleOnly: true, havePositions: [] })
  expect(node.connections).toHaveLength(1)
})

test('the SHiP client ignores the results without a block that an EOSIO 2.0 node sends at the head', async () => {
  const { node, url } = await harness.node({ generation: 'eosio-2.0', announcesHeads: true, chainId: null })
  node.extend(3)
  const { collector } = harness.read(url)
  await until('3 blocks', () => collector.blocks.length === 3)
  for (let round = 0; round < 60; round++) node.serveAll()
  node.extend(2)
  await until('5 blocks', () => collector.blocks.length === 5)
  expect(node.connections).toHaveLength(1)
})

test('the SHiP client dispatches status results between blocks', async () => {
  const { node, url } = await harness.node()
  node.extend(3)
  const { collector } = harness.read(url)
  await until('3 blocks', () => collector.blocks.length === 3)
  node.connections[0]?.socket.send(node.packStatus())
  node.extend(1)
  node.connections[0]?.socket.send(node.packStatus())
  node.extend(1)
  await until('5 blocks', () => collector.blocks.length === 5)
  expect(node.connections).toHaveLength(1)
})

test('the SHiP client starts at the configured block, or after the last applied block', async () => {
  const { node, url } = await harness.node()
  node.extend(12)
  const { collector } = harness.read(url, { startBlock: 7 })
  await until('6 blocks', () => collector.blocks.length === 6)
  expect(collector.nums).toEqual(range(7, 12))

  const resumed = new Collector()
  resumed.blocks.push(...range(4, 9).map((num) => ({ num, id: node.chain[num]!.id.toString('hex') })))
  resumed.irreversibleFloor = 5
  harness.read(url, { startBlock: 2 }, resumed)
  await until('block 12', () => resumed.nums.at(-1) === 12)
  expect(node.connections[1]?.request).toMatchObject({ start: 10, havePositions: resumed.blocks.slice(1, 6) })
  expect(resumed.forks).toEqual([])
})

test('the SHiP client refuses a node of another chain, and the error contains the chain id of the node', async () => {
  const { node, url } = await harness.node({ chainId: Buffer.alloc(32, 0x11) })
  node.extend(3)
  const { done, collector } = harness.read(url)
  expect(await done).toMatchObject({ code: 'CHAIN_MISMATCH', retryable: false })
  expect(String(await done)).toContain('11111111')
  expect(collector.blocks).toEqual([])
})

test('the SHiP client warns when a node is too old to send its chain id', async () => {
  const { node, url } = await harness.node({ generation: 'eosio-1.8', chainId: null })
  node.extend(3)
  const { log, collector } = harness.read(url)
  await until('3 blocks', () => collector.blocks.length === 3)
  expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    expect.stringContaining('chain id'),
  ])
})

test('the SHiP client reaches a node by a unix socket whose path needs escaping', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ship socket-'))
  try {
    const { node, url } = await harness.node({}, join(folder, 'state history.sock'))
    node.extend(4)
    const { collector, session } = harness.read(url)
    await until('4 blocks', () => collector.blocks.length === 4)
    expect(session.status().url).toBe(`ws+unix://${join(folder, 'state history.sock')}`)
    await harness.close()
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('the SHiP client stops with the error of the consumer', async () => {
  const { node, url } = await harness.node()
  node.extend(9)
  const collector = new Collector()
  const failure = new Error('no room')
  collector.inspect = ({ num }) => {
    if (num === 5) throw failure
  }
  const { done } = harness.read(url, {}, collector)
  expect(await done).toBe(failure)
  expect(collector.nums).toEqual(range(1, 5))
  await until('the socket to end', () => node.connections[0]?.socket.readyState === 3)
})

test('the SHiP client stops at once when aborted, while streaming and while backing off', async () => {
  const { node, url } = await harness.node()
  node.extend(2)
  const streaming = harness.read(url)
  await until('2 blocks', () => streaming.collector.blocks.length === 2)
  expect(await streaming.stop()).toBeUndefined()

  const waiting = harness.read('ws://127.0.0.1:9', {
    timing: { backoffMinMs: 3_600_000, backoffMaxMs: 3_600_000 },
  })
  await until('backing off', () => waiting.session.status().state === 'backing-off')
  expect(waiting.session.status().lastProblem).toContain('refuses connections')
  expect(await waiting.stop()).toBeUndefined()
})

test('the SHiP client refuses to run twice, an address with an unknown scheme, and an empty list of addresses', async () => {
  const { url } = await harness.node()
  const run = harness.read(url)
  await expect(run.session.run(new AbortController().signal)).rejects.toMatchObject({ code: 'INTERNAL' })
  await run.stop()
  const options = {
    startBlock: 1,
    compileProtocol: () => {
      throw new Error('unused')
    },
    logger: { debug: () => undefined, info: () => undefined, warn: () => undefined },
  }
  const create = (urls: string[]) => () => createShipSession({ ...options, urls }, new Collector())
  expect(create(['tcp://node:8080'])).toThrow(/tcp:.*ws\+unix/)
  expect(create([])).toThrow(/no state-history address/)
})
