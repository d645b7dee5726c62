import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { Harness, range, until } from '../../../tests/ship/harness.ts'
import { generations, readBlocksRequest } from '../../../tests/ship/wire.ts'
import type { Generation } from '../../../tests/ship/wire.ts'
import { normalizeAbiJson } from '../../core/antelope/abi/index.ts'
import { compileProtocol } from '../decode/index.ts'

const harness = new Harness()
afterEach(() => harness.close())

const fixtures = new URL('../../../tests/fixtures/', import.meta.url)
const protocolAbi = (generation: Generation) =>
  readFileSync(new URL(`contracts/ship.${generation}.abi.json`, fixtures), 'utf8')
const compile = (abi: unknown) => compileProtocol(normalizeAbiJson(abi))

/** Settings of a scripted node for each protocol generation. The session tests cover each behaviour separately. */
const behaviour = {
  'eosio-1.8': { chainId: null, announcesHeads: true },
  'eosio-2.0': { chainId: null, announcesHeads: true },
  'eosio-2.1': {},
  leap: { losesRewinds: true, clampsStart: true },
  spring: {},
} as const

describe.each(generations)('a node of generation %s, read by its own protocol ABI', (generation) => {
  const script = { generation, greeting: protocolAbi(generation), ...behaviour[generation] }

  test('the SHiP client streams, forks, and resumes', async () => {
    const { node, url } = await harness.node(script)
    node.extend(30)
    node.libNum = 12
    const { collector, session } = harness.read(url, { compileProtocol: compile })
    await until('30 blocks', () => collector.blocks.length === 30)
    expect(Buffer.from(collector.received[4]!.header!)).toEqual(node.chain[5]?.block)
    expect(collector.received[4]).toMatchObject({ head: { num: 30 }, lib: { num: 12 } })
    node.fork(25, 10, 'b')
    await until('block 34', () => collector.nums.at(-1) === 34)
    expect(collector.forks).toEqual([25])
    node.connections[0]?.socket.close(1001)
    node.fork(33, 6, 'c')
    await until('block 38', () => collector.nums.at(-1) === 38)
    expect(collector.blocks).toEqual(
      range(1, 38).map((num) => ({ num, id: node.chain[num]!.id.toString('hex') })),
    )
    expect(collector.forks[0]).toBe(25)
    expect(collector.forks.slice(1)).toEqual([33])
    expect(session.status().connections).toBe(2)
  })

  test('the SHiP client names a payload that is missing', async () => {
    const { node, url } = await harness.node({
      ...script,
      tamper: (block) => (block.num === 4 ? { ...block, traces: null } : block),
    })
    node.extend(6)
    const { done } = harness.read(url, { compileProtocol: compile })
    expect(await done).toMatchObject({
      code: 'SHIP_BLOCK_UNREADABLE',
      details: { block_num: 4, start: 5 },
      message: expect.stringContaining('block 4 came without traces') as string,
    })
  })
})

/** Splits a recording into messages, each a 32-bit little-endian length and its bytes. */
function readRecording(name: string): Buffer[] {
  const bytes = gunzipSync(readFileSync(new URL(`recordings/${name}/frames.bin.gz`, fixtures)))
  const messages: Buffer[] = []
  for (let offset = 0; offset < bytes.length;) {
    const end = offset + 4 + bytes.readUInt32LE(offset)
    messages.push(bytes.subarray(offset + 4, end))
    offset = end
  }
  return messages
}

interface IndexLine {
  readonly this?: { readonly num: number; readonly id: string } | null
}

test('the SHiP client follows a recorded chain of a real node through its three forks', async () => {
  const [status, ...blocks] = readRecording('fork')
  const greeting = readFileSync(new URL('recordings/fork/ship-abi.json', fixtures), 'utf8')
  const http = createServer()
  const server = new WebSocketServer({ server: http })
  server.on('connection', (socket: WebSocket) => {
    let sent = 0
    let credits = 0
    socket.send(greeting)
    socket.on('message', (data: Buffer) => {
      if (data[0] === 0) socket.send(status!)
      else credits += data[0] === 1 ? readBlocksRequest(data).maxInFlight : data.readUInt32LE(1)
      for (; credits > 0 && sent < blocks.length; credits--) socket.send(blocks[sent++]!)
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`
  const { collector, session, log } = harness.read(url, {
    compileProtocol: compile,
    chainId: null,
    stopBlock: 403,
  })
  await until('block 403', () => session.status().state === 'ended')

  const branch: { num: number; id: string }[] = []
  for (const line of readFileSync(new URL('recordings/fork/index.ndjson', fixtures), 'utf8')
    .trim()
    .split('\n')) {
    const position = (JSON.parse(line) as IndexLine).this
    if (!position) continue
    while ((branch.at(-1)?.num ?? 0) >= position.num) branch.pop()
    branch.push(position)
  }
  expect(collector.blocks).toEqual(branch)
  expect(collector.forks).toEqual([159, 206, 249])
  expect(session.status()).toMatchObject({ connections: 1, blocksReceived: blocks.length, resentBlocks: 0 })
  expect(log.filter(({ message }) => message.includes('payloads'))).toMatchObject([{ level: 'info' }])
  server.close()
  http.close()
})
