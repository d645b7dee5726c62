import { describe, expect, it } from 'vitest'
import { readAbi, readRecording } from './recordings.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { compileProtocol } from '../../services/filler/decode/protocol.ts'

const leap = compileProtocol(readAbi('ship.leap'))

interface Sent {
  readonly num: number
  readonly block: Uint8Array
  readonly traces: Uint8Array | null
}

function blocksOf(name: string): Sent[] {
  return readRecording(name as 'main').frames.flatMap((frame) => {
    const result = leap.decodeResult(frame)
    if (result.kind !== 'blocks' || result.this === null || result.block === null) return []
    return [{ num: result.this.num, block: result.block, traces: result.traces }]
  })
}

/** Blocks that deploy code, which the recordings have zeros for. */
const blanked: Readonly<Record<string, readonly number[]>> = {
  main: [11, 15, 19, 21, 22, 762, 764],
  v2: [862],
  fork: [19, 22, 24, 25],
}

describe('content of a block against the roots in its header', () => {
  it.each(Object.keys(blanked))('recorded blocks match the roots in their headers: %s', (name) => {
    const blocks = blocksOf(name)
    const wrong = blocks.flatMap(({ num, block, traces }) => {
      const found = leap.findFalseContent(block, traces)
      return found === null ? [] : [`${num} ${found}`]
    })
    expect(blocks.length).toBeGreaterThan(100)
    expect(wrong).toEqual(blanked[name]!.map((num) => `${num} transactions`))
  })

  it('generated blocks match the roots in their headers', () => {
    const chain = createDevchain({ blocks: 60, rate: 8, seed: 3 })
    const { num: last } = chain.head()
    for (let num = last - 59; num <= last; num++) {
      const { block, traces } = chain.block(num)!
      expect([num, leap.findFalseContent(block!, traces)]).toEqual([num, null])
    }
  })

  // A block of several transactions.
  const { block, traces } = blocksOf('main').toSorted((a, b) => b.block.length - a.block.length)[8]!
  const flipped = (bytes: Uint8Array, at: number) => {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 0x10
    return copy
  }

  it('a changed byte of a transaction is found', () => {
    expect(leap.findFalseContent(block, traces)).toBeNull()
    // Behind header and signature.
    for (let at = 190; at < block.length - 1; at += 37)
      expect([at, leap.findFalseContent(flipped(block, at), traces)]).toEqual([at, 'transactions'])
  })

  it('a changed action or receipt is found, and so are traces of another block', () => {
    const scanned: number[] = []
    leap.scanTransactions(traces!, {
      action: ({ dataStart, dataEnd }) => void scanned.push(dataStart, dataEnd - 1),
    })
    expect(scanned.length).toBeGreaterThan(2)
    for (const at of scanned)
      expect([at, leap.findFalseContent(block, flipped(traces!, at))]).toEqual([at, 'actions'])
    const other = blocksOf('main')[100]!
    expect(leap.findFalseContent(block, other.traces)).toBe('actions')
    expect(leap.findFalseContent(block, traces!.subarray(0, 40))).toBe('actions')
  })

  it('headers of the Savanna consensus have different roots and are not compared', () => {
    const savanna = Buffer.from(block)
    savanna.writeUInt32LE(2 ** 31, 110)
    expect(leap.findFalseContent(savanna, flipped(traces!, 100))).toBeNull()
  })

  it('only transactions are compared if the node has no traces', () => {
    expect(leap.findFalseContent(block, null)).toBeNull()
    expect(leap.findFalseContent(flipped(block, 200), null)).toBe('transactions')
  })
})
