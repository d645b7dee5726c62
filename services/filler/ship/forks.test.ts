import { afterEach, expect, test } from 'vitest'
import { Collector } from '../../../tests/ship/collector.ts'
import { Harness, range, until } from '../../../tests/ship/harness.ts'
import type { ScriptedNode } from '../../../tests/ship/scripted-node.ts'

const harness = new Harness()
afterEach(() => harness.close())

const ids = (node: ScriptedNode, first: number, last: number) =>
  range(first, last).map((num) => ({ num, id: node.chain[num]!.id.toString('hex') }))

test('the SHiP client undoes the replaced blocks and delivers the new branch when the chain forks during a session', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const { collector, session } = harness.read(url)
  await until('20 blocks', () => collector.blocks.length === 20)
  node.fork(15, 8, 'b')
  await until('the new branch', () => collector.nums.at(-1) === 22)
  expect(collector.forks).toEqual([15])
  expect(collector.blocks).toEqual(ids(node, 1, 22))
  node.fork(22, 1, 'c').extend(1, 'c')
  await until('a fork of the last block', () => collector.nums.at(-1) === 23)
  expect(collector.forks).toEqual([15, 22])
  expect(collector.blocks).toEqual(ids(node, 1, 23))
  expect(session.status()).toMatchObject({ forks: 2, connections: 1 })
})

test('the SHiP client follows a fork of a fork', async () => {
  const { node, url } = await harness.node()
  node.extend(40)
  const { collector } = harness.read(url)
  for (let round = 1; round <= 25; round++) {
    const from = node.chain.length - 1 - ((round * 7) % 11)
    node.fork(from, ((round * 5) % 12) + 11, `r${round}`)
    if (round % 3 === 0) await until('the head', () => collector.nums.at(-1) === node.head.num)
  }
  await until('the head', () => collector.blocks.at(-1)?.id === node.head.id.toString('hex'))
  expect(collector.blocks).toEqual(ids(node, 1, node.head.num))
  expect(node.connections).toHaveLength(1)
})

test('the SHiP client follows a fork that happened during a disconnect, because its request contains the positions of its last blocks', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const collector = new Collector()
  collector.blocks.push(...ids(node, 1, 20))
  collector.irreversibleFloor = 10
  node.fork(16, 9, 'b')
  const { session } = harness.read(url, {}, collector)
  await until('block 24', () => collector.nums.at(-1) === 24)
  expect(node.connections[0]?.request?.havePositions.map(({ num }) => num)).toEqual(range(10, 20))
  expect(collector.forks).toEqual([16])
  expect(collector.blocks).toEqual(ids(node, 1, 24))
  expect(session.status().connections).toBe(1)
})

test('the SHiP client refuses a fork at or below the last irreversible block', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const { collector, done } = harness.read(url)
  await until('20 blocks', () => collector.blocks.length === 20)
  collector.irreversibleFloor = 15
  node.fork(15, 8, 'b')
  expect(await done).toMatchObject({ code: 'FORK_BELOW_IRREVERSIBLE', details: { block_num: 15, floor: 15 } })
  expect(collector.forks).toEqual([])
  expect(collector.blocks).toHaveLength(20)
})

test('the SHiP client stops with an internal error if the pipeline does not undo the replaced blocks of a fork', async () => {
  const { node, url } = await harness.node()
  node.extend(5)
  const collector = new Collector()
  collector.onFork = () => undefined
  const { done } = harness.read(url, {}, collector)
  await until('5 blocks', () => collector.blocks.length === 5)
  node.fork(4, 3, 'b')
  expect(await done).toMatchObject({ code: 'INTERNAL' })
})

test('the SHiP client reconnects to get a fork that Leap did not send for lack of credits', async () => {
  const { node, url } = await harness.node({ losesRewinds: true })
  node.extend(10)
  const collector = new Collector()
  const { session } = harness.read(url, {}, collector)
  await until('10 blocks', () => collector.blocks.length === 10)
  // Simulates a client that is out of credits: the node may send no message during the fork.
  node.connections[0]!.credits = 0
  node.fork(8, 3, 'b').extend(1, 'b')
  node.connections[0]!.credits = 50
  node.serveAll()
  await until('block 11', () => collector.blocks.at(-1)?.id === node.chain[11]?.id.toString('hex'))
  expect(collector.forks).toEqual([8])
  expect(collector.blocks).toEqual(ids(node, 1, 11))
  expect(session.status()).toMatchObject({
    connections: 2,
    lastProblem: expect.stringContaining('did not send a fork') as string,
  })
})

test('the SHiP client undoes one block at a time if the node sends only later blocks of a fork, even after a reconnect', async () => {
  const { node, url } = await harness.node({ ignoresPositions: true })
  node.extend(10)
  const collector = new Collector()
  collector.blocks.push(...ids(node, 1, 10))
  node.fork(6, 8, 'b')
  harness.read(url, { timing: { backoffMinMs: 1, backoffMaxMs: 1 } }, collector)
  await until('block 13', () => collector.nums.at(-1) === 13)
  expect(collector.forks).toEqual([10, 9, 8, 7, 6])
  expect(collector.blocks).toEqual(ids(node, 1, 13))
})

test('the SHiP client does not undo irreversible blocks if no parent matches', async () => {
  const { node, url } = await harness.node({ ignoresPositions: true })
  node.extend(10)
  const collector = new Collector()
  collector.blocks.push(...ids(node, 1, 10))
  collector.irreversibleFloor = 8
  node.fork(6, 8, 'b')
  const { done } = harness.read(url, {}, collector)
  expect(await done).toMatchObject({ code: 'FORK_BELOW_IRREVERSIBLE', details: { block_num: 8 } })
  expect(collector.nums).toEqual(range(1, 8))
})

test('the SHiP client refuses the blocks of a node whose branch begins below an irreversible block', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const collector = new Collector()
  collector.blocks.push(...ids(node, 1, 20))
  collector.irreversibleFloor = 12
  const kept = [...collector.blocks]
  node.fork(6, 30, 'b')
  const { done } = harness.read(url, { stopBlock: 30 }, collector)
  expect(await done).toMatchObject({ code: 'FORK_BELOW_IRREVERSIBLE', details: { block_num: 12 } })
  expect(collector.blocks).toEqual(kept)
})

test('the SHiP client reconnects if the first block of a new branch has an unknown parent', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const { collector, session } = harness.read(url)
  await until('20 blocks', () => collector.blocks.length === 20)
  // The node resumes at block 18, although the branch begins at block 15.
  const connection = node.connections[0]!
  connection.credits = 0
  node.fork(15, 9, 'b')
  connection.credits = 50
  connection.cursor = 18
  node.serveAll()
  await until('block 23', () => collector.nums.at(-1) === 23)
  expect(collector.forks).toEqual([15])
  expect(collector.blocks).toEqual(ids(node, 1, 23))
  expect(session.status().connections).toBe(2)
})

test('the SHiP client skips identical blocks that a node sends again, and detects a fork at the first block that differs', async () => {
  const { node, url } = await harness.node()
  node.extend(20)
  const { collector, session } = harness.read(url)
  await until('20 blocks', () => collector.blocks.length === 20)
  node.connections[0]!.cursor = 12
  node.serveAll()
  node.extend(2)
  await until('block 22', () => collector.nums.at(-1) === 22)
  expect(session.status()).toMatchObject({ resentBlocks: 9, forks: 0, connections: 1 })
  expect(collector.blocks).toEqual(ids(node, 1, 22))

  node.fork(18, 8, 'b')
  node.connections[0]!.cursor = Math.min(node.connections[0]!.cursor, 14)
  node.serveAll()
  await until('block 25', () => collector.nums.at(-1) === 25)
  expect(collector.forks).toEqual([18])
  expect(collector.blocks).toEqual(ids(node, 1, 25))
})

test('the SHiP client recognizes blocks of an earlier run that a node sends again', async () => {
  const { node, url } = await harness.node({ ignoresPositions: true })
  node.extend(20)
  const collector = new Collector()
  collector.blocks.push(...ids(node, 1, 20))
  const { session } = harness.read(url, {}, collector)
  await until('the request', () => (node.connections[0]?.requests.length ?? 0) > 0)
  node.connections[0]!.cursor = 12
  node.extend(1)
  await until('block 21', () => collector.nums.at(-1) === 21)
  expect(collector.forks).toEqual([])
  expect(session.status().resentBlocks).toBe(9)
})

test('the SHiP client checks linkage by the block header if a node omits the previous id', async () => {
  const { node, url } = await harness.node({ tamper: (block) => ({ ...block, prevId: null }) })
  node.extend(10)
  const { collector, session } = harness.read(url)
  await until('10 blocks', () => collector.blocks.length === 10)
  expect(session.status().connections).toBe(1)
  node.connections[0]!.credits = 0
  node.script.losesRewinds = true
  node.fork(8, 4, 'b')
  node.connections[0]!.credits = 50
  node.serveAll()
  await until('block 11', () => collector.nums.at(-1) === 11)
  expect(collector.forks).toEqual([8])
  expect(session.status().connections).toBe(2)
})
