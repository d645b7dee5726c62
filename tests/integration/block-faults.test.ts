import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { remedyOf } from '../../services/core/errors/index.ts'
import type { FatalError } from '../../services/core/errors/index.ts'
import { MirrorNode } from '../../scripts/lab/index.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { readAbi } from '../decode/recordings.ts'
import { compileProtocol } from '../../services/filler/decode/protocol.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { roundSeeds } from '../setup/seeds.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { BEGUN_AT, createBegunDatabase } from './indexed-database.ts'
import { createRandom } from './seeded-random.ts'

const BLOCKS = 160
/** All nodes use the same lag: it determines which blocks can be undone, and so the content of the undo tables. */
const LIB_LAG_BLOCKS = 2

let running: TestChain
let straight: TestDatabase
let expected: Awaited<ReturnType<typeof dumpDatabase>>

beforeAll(async () => {
  straight = await createBegunDatabase()
  running = await startChain({
    recordings: ['main'],
    blocks: BLOCKS,
    rate: 5,
    seed: 3,
    libLagBlocks: LIB_LAG_BLOCKS,
  })
  await indexUntil(running, straight.address, running.chain.head().num)
  expected = await dumpDatabase(straight.address)
})

afterAll(async () => {
  await running.chain.stop()
  await straight.drop()
})

/**
 * Offsets in a blocks result: the block's position follows head and last irreversible block; the payloads follow the
 * parent's position.
 */
const POSITION = 73
const PAYLOADS = POSITION + 2 * 37

/** Number of the block in a blocks result; null without a block. */
function numberOf(frame: Buffer): number | null {
  return frame[0] === 1 && frame[POSITION] === 1 ? frame.readUInt32LE(POSITION + 1) : null
}

/** Start and length of the payload whose presence flag is at offset `at`. */
function contentOf(frame: Buffer, at: number): { readonly start: number; readonly length: number } {
  let length = 0
  let start = at + 1
  for (let factor = 1; ; factor *= 128) {
    const byte = frame[start++]!
    length += (byte & 127) * factor
    if (byte < 128) return { start, length }
  }
}

/** Offset of the presence flag after the payload whose flag is at offset `at`. */
function payloadAfter(frame: Buffer, at: number): number {
  const { start, length } = contentOf(frame, at)
  return start + length
}

/** Returns a copy of the frame with one bit of the byte at `at` changed. */
function flip(frame: Buffer, at: number): Buffer {
  const copy = Buffer.from(frame)
  copy[at]! ^= 1
  return copy
}

/** Returns a copy of the frame without the last byte of the payload whose presence flag is at offset `at`. */
function cut(frame: Buffer, at: number): Buffer {
  const { start, length } = contentOf(frame, at)
  const head: number[] = []
  for (let rest = length - 1; ; rest >>>= 7) {
    head.push(rest < 128 ? rest : (rest & 127) | 128)
    if (rest < 128) break
  }
  return Buffer.concat([
    frame.subarray(0, at + 1),
    Buffer.from(head),
    frame.subarray(start, start + length - 1),
    frame.subarray(start + length),
  ])
}

const cutTraces = (frame: Buffer): Buffer => cut(frame, payloadAfter(frame, PAYLOADS))
const cutDeltas = (frame: Buffer): Buffer => cut(frame, payloadAfter(frame, payloadAfter(frame, PAYLOADS)))

/** Frames that a faulty node sends instead of a block. */
const faults = {
  'no traces': (frame: Buffer) => {
    const traces = payloadAfter(frame, PAYLOADS)
    return Buffer.concat([
      frame.subarray(0, traces),
      Buffer.of(0),
      frame.subarray(payloadAfter(frame, traces)),
    ])
  },
  'an undecodable frame': (frame: Buffer) => frame.subarray(0, frame.length - 1),
  'a wrong link': (frame: Buffer) => flip(frame, PAYLOADS - 20),
  'traces with a too large count': (frame: Buffer) => {
    // Increase the count of traces, which precedes the first trace, by one.
    const { start } = contentOf(frame, payloadAfter(frame, PAYLOADS))
    const copy = Buffer.from(frame)
    copy[start]!++
    return copy
  },
  'cut traces': cutTraces,
  'cut deltas': cutDeltas,
  'another time in the header': (frame: Buffer) => flip(frame, PAYLOADS + 3),
  'another root in the header': (frame: Buffer) => flip(frame, PAYLOADS + 3 + 80),
  'another id': (frame: Buffer) => flip(frame, POSITION + 20),
} as const
type Fault = keyof typeof faults

/** A node that sends a faulty frame instead of block `num`. */
function faultyNode(fault: Fault, num: number): MirrorNode {
  const replace = (frame: Buffer): Buffer[] => [numberOf(frame) === num ? faults[fault](frame) : frame]
  return new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS, replace })
}

async function read(
  address: DatabaseAddress,
  nodes: readonly MirrorNode[],
  settings: Partial<ReaderSettings> = {},
) {
  await indexUntil(running, address, running.chain.head().num, {
    settings,
    options: {
      chain: { chainId: running.chain.chainId, http: running.httpUrl, ship: nodes.map(({ url }) => url) },
    },
  })
}

async function queryRows<T extends object>(address: DatabaseAddress, text: string): Promise<T[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    return (await client.query<T>(text)).rows
  } finally {
    await client.end()
  }
}

async function positionOf(address: DatabaseAddress): Promise<number> {
  const [row] = await queryRows<{ num: number }>(address, 'SELECT block_num AS num FROM chain.readers')
  return row?.num ?? 0
}

/** Runs a task with a database that has the blocks up to `BEGUN_AT`, or with the database that `create` returns. */
async function withDatabase(
  work: (address: DatabaseAddress) => Promise<void>,
  create = createBegunDatabase,
): Promise<void> {
  const database = await create()
  try {
    await work(database.address)
  } finally {
    await database.drop()
  }
}

async function withNodes(nodes: readonly MirrorNode[], work: () => Promise<void>): Promise<void> {
  try {
    for (const node of nodes) await node.start()
    await work()
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

/** Expects the rows that an undisturbed reader writes. */
async function expectEverything(address: DatabaseAddress): Promise<void> {
  expect(compareDumps(expected, await dumpDatabase(address))).toEqual([])
}

const names = Object.keys(faults) as Fault[]

it.each(roundSeeds(8, 200))(
  'a reader loses no valid block to a node fault at a random block, seed %d',
  async (seed) => {
    const random = createRandom(seed)
    const head = running.chain.head().num
    // A few readers begin at the first block.
    const isWhole = seed % 4 === 0
    const num = random.between((isWhole ? 0 : BEGUN_AT) + 3, head - LIB_LAG_BLOCKS - 2)
    const fault = names[seed % names.length]!
    const others = Math.floor(seed / names.length) % 3
    const bad = faultyNode(fault, num)
    const good = Array.from(
      { length: others },
      () => new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS }),
    )
    const nodes = [...good]
    nodes.splice(random.between(0, others), 0, bad)
    await withDatabase(
      (address) =>
        withNodes(nodes, async () => {
          if (others > 0) await read(address, nodes)
          else {
            await expect(read(address, nodes)).rejects.toMatchObject({ retryable: false })
            expect(await positionOf(address)).toBe(num - 1)
            const whole = new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS })
            await withNodes([whole], () => read(address, [whole]))
          }
          await expectEverything(address)
        }),
      isWhole ? createTestDatabase : createBegunDatabase,
    )
  },
  patient(120_000),
)

const leap = compileProtocol(readAbi('ship.leap'))

/** Changes to a reversible block that leave its id and header valid. */
const falseContent = {
  'another action': (frame: Buffer) => {
    const traces = contentOf(frame, payloadAfter(frame, PAYLOADS))
    let last = 0
    leap.scanTransactions(frame.subarray(traces.start, traces.start + traces.length), {
      action: ({ dataEnd }) => (last = dataEnd - 1),
    })
    return flip(frame, traces.start + last)
  },
  'another transaction': (frame: Buffer) => {
    const { start, length } = contentOf(frame, PAYLOADS)
    // Flip the last byte of the transaction. The two bytes after it are the empty lists of extensions of transaction
    // and block.
    return flip(frame, start + length - 3)
  },
  'another parent': faults['a wrong link'],
} as const

it.each(
  (['another action', 'another transaction', 'another parent'] as const).flatMap((fault) =>
    [0, 1, 2].map((others) => [fault, others] as const),
  ),
)(
  'a reader refuses %s that a node falsely sends in a reversible block, with %d other nodes',
  async (fault, others) => {
    const { num: head } = running.chain.head()
    // Two of the faults change a transaction, so the block must contain one. A block without transactions has about 190
    // bytes.
    const num = [head, head - 1].find((each) => running.chain.block(each)!.block!.length > 250)!
    const replace = (frame: Buffer): Buffer[] => [
      numberOf(frame) === num ? falseContent[fault](frame) : frame,
    ]
    const lag = { libLagBlocks: LIB_LAG_BLOCKS }
    const bad = new MirrorNode(running.chain, { ...lag, replace })
    const nodes = [bad, ...Array.from({ length: others }, () => new MirrorNode(running.chain, lag))]
    await withDatabase((address) =>
      withNodes(nodes, async () => {
        if (others === 0) {
          await expect(read(address, nodes)).rejects.toMatchObject({ code: 'SHIP_BLOCK_INVALID' })
          expect(await positionOf(address)).toBe(num - 1)
          const whole = new MirrorNode(running.chain, lag)
          await withNodes([whole], () => read(address, [whole]))
        } else await read(address, nodes)
        await expectEverything(address)
      }),
    )
  },
  patient(120_000),
)

it(
  'with ship_check_history_roots, a reader refuses a replaced action in an irreversible block',
  async () => {
    const { num: head } = running.chain.head()
    const blocks = Array.from({ length: 60 }, (_, at) => head - 20 - at)
    const num = blocks.find((each) => running.chain.block(each)!.block!.length > 250)!
    const replace = (frame: Buffer): Buffer[] => [
      numberOf(frame) === num ? falseContent['another action'](frame) : frame,
    ]
    const node = new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS, replace })
    // Earlier recorded blocks do not match their Merkle roots, because the recordings lack the contract code. So start
    // 20 blocks before the false block.
    const settings = { start_block: num - 20, ship_check_history_roots: true }
    await withDatabase(
      (address) =>
        withNodes([node], async () => {
          await expect(read(address, [node], settings)).rejects.toMatchObject({ code: 'SHIP_BLOCK_INVALID' })
          expect(await positionOf(address)).toBe(num - 1)
        }),
      createTestDatabase,
    )
  },
  patient(120_000),
)

it.each(roundSeeds(2, 25))(
  'a database that refuses the rows of a block contains all earlier blocks, seed %d',
  async (seed) => {
    const random = createRandom(1_000 + seed)
    await withDatabase(async (address) => {
      const blocks = await queryRows<{ num: number }>(
        straight.address,
        `SELECT DISTINCT minted_at_block AS num FROM assets.assets WHERE minted_at_block > ${BEGUN_AT} ORDER BY 1`,
      )
      const { num } = blocks[random.between(0, blocks.length - 1)]!
      await queryRows(
        address,
        `ALTER TABLE assets.assets ADD CONSTRAINT no CHECK (minted_at_block <> ${num})`,
      )
      const node = new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS })
      await withNodes([node], async () => {
        await expect(read(address, [node])).rejects.toMatchObject({
          code: 'DATABASE_ERROR',
          message: expect.stringContaining(`block ${num}:`) as string,
        })
        expect(await positionOf(address)).toBe(num - 1)
        await queryRows(address, 'ALTER TABLE assets.assets DROP CONSTRAINT no')
        await read(address, [node])
        await expectEverything(address)
      })
    })
  },
  patient(120_000),
)

it('the asset id 2^63 stops a reader with an error that names the action, after all earlier blocks are committed; the reader continues if another node sends the block with a valid id', async () => {
  const mints = await queryRows<{ id: bigint; num: number }>(
    straight.address,
    'SELECT asset_id AS id, minted_at_block AS num FROM assets.assets ORDER BY asset_id DESC LIMIT 1',
  )
  const { id, num } = mints[0]!
  const [known, large] = [id, 2n ** 63n].map((number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(number)
    return bytes
  })
  const replace = (frame: Buffer): Buffer[] => {
    if (numberOf(frame) !== num) return [frame]
    const copy = Buffer.from(frame)
    for (let at = copy.indexOf(known!); at !== -1; at = copy.indexOf(known!, at)) large!.copy(copy, at)
    return [copy]
  }
  const node = new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS, replace })
  await withDatabase((address) =>
    withNodes([node], async () => {
      // The check of Merkle roots is off, because it would refuse the changed block earlier.
      const settings = { ship_check_roots: false }
      await expect(read(address, [node], settings)).rejects.toMatchObject({
        code: 'BLOCK_FAILED',
        message: expect.stringMatching(
          new RegExp(
            `^block ${num} .*transaction [0-9a-f]{64}, action atomicassets::logmint .*field asset_id is ${2n ** 63n}`,
          ),
        ) as string,
      })
      expect(await positionOf(address)).toBe(num - 1)
      const good = new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS })
      await withNodes([good], () => read(address, [node, good], settings))
      await expectEverything(address)
    }),
  )
})

it('the remedy for a block without traces skips one block, and the gap is recorded', async () => {
  const bad = faultyNode('no traces', 900)
  await withDatabase((address) =>
    withNodes([bad], async () => {
      const refusal: unknown = await read(address, [bad]).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: 'SHIP_BLOCK_UNREADABLE' })
      const { code, details } = refusal as FatalError
      expect(remedyOf(code, 'process', details)).toContain('set `start_block` to 901 ')
      await read(address, [bad], { start_block: 901 })
      const gaps = 'SELECT first_block AS first, last_block AS last FROM chain.gaps'
      expect(await queryRows(address, gaps)).toEqual([{ first: 900, last: 900 }])
      expect(await positionOf(address)).toBe(running.chain.head().num)
    }),
  )
})

it.each(['traces', 'deltas'] as const)(
  'the error for truncated %s of a block names the node and the start_block that skips the block; a second node supplies the block',
  async (part) => {
    const bad = faultyNode(`cut ${part}`, 900)
    const good = new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS })
    await withDatabase((address) =>
      withNodes([bad, good], async () => {
        const refusal: unknown = await read(address, [bad]).catch((error: unknown) => error)
        const { code, message, details } = refusal as FatalError
        expect([code, message]).toEqual([
          'SHIP_BLOCK_UNREADABLE',
          `the ${part} of block 900 from ${bad.url}/ cannot be read`,
        ])
        expect(remedyOf(code, 'process', details)).toContain('set `start_block` to 901 ')
        expect(await positionOf(address)).toBe(899)
        await read(address, [bad, good])
        await expectEverything(address)
      }),
    )
  },
)

it.each([
  ['another root in the header', 'the hash of the header is not the block id'],
  ['a wrong link', 'the message gives the parent '],
] as const)(
  'the error for a block with %s names the node, and no row of the block is written',
  async (fault, reason) => {
    const bad = faultyNode(fault, 910)
    await withDatabase((address) =>
      withNodes([bad], async () => {
        const refusal: unknown = await read(address, [bad]).catch((error: unknown) => error)
        const { code, message, details } = refusal as FatalError
        expect([code, message]).toEqual(['SHIP_BLOCK_INVALID', expect.stringContaining(reason)])
        expect(message).toContain(`block 910 from ${bad.url}`)
        if (fault === 'a wrong link')
          expect(message).toContain(
            `the header gives ${Buffer.from(running.chain.block(909)!.id).toString('hex')}`,
          )
        expect(remedyOf(code, 'process', details)).toContain('set `start_block` to 911 ')
        expect(await positionOf(address)).toBe(909)
      }),
    )
  },
)
