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

/**
 * Blocks that deploy contract code. The recordings contain zeros instead of the code, so the Merkle roots of these
 * blocks do not match.
 */
const blanked: Readonly<Record<string, readonly number[]>> = {
  main: [11, 15, 19, 21, 22, 762, 764],
  v2: [862],
  fork: [19, 22, 24, 25],
}

describe('block content and the Merkle roots in the block header', () => {
  it.each(Object.keys(blanked))(
    'transactions and actions of recorded blocks match the roots in their headers: %s',
    (name) => {
      const blocks = blocksOf(name)
      const wrong = blocks.flatMap(({ num, block, traces }) => {
        const found = leap.findFalseContent(block, traces)
        return found === null ? [] : [`${num} ${found}`]
      })
      expect(blocks.length).toBeGreaterThan(100)
      expect(wrong).toEqual(blanked[name]!.map((num) => `${num} transactions`))
    },
  )

  it('transactions and actions of generated blocks match the roots in their headers', () => {
    const chain = createDevchain({ blocks: 60, rate: 8, seed: 3 })
    const { num: last } = chain.head()
    for (let num = last - 59; num <= last; num++) {
      const { block, traces } = chain.block(num)!
      expect([num, leap.findFalseContent(block!, traces)]).toEqual([num, null])
    }
  })

  // The ninth largest block of the recording, because it has several transactions.
  const { block, traces } = blocksOf('main').toSorted((a, b) => b.block.length - a.block.length)[8]!
  const flipped = (bytes: Uint8Array, at: number) => {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 0x10
    return copy
  }

  it('findFalseContent detects a changed byte of a transaction', () => {
    expect(leap.findFalseContent(block, traces)).toBeNull()
    // The transactions start after the header and the signature.
    for (let at = 190; at < block.length - 1; at += 37)
      expect([at, leap.findFalseContent(flipped(block, at), traces)]).toEqual([at, 'transactions'])
  })

  it('findFalseContent detects a changed action or receipt, and traces of another block', () => {
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

  it('findFalseContent skips headers of the Savanna consensus, whose roots have another form', () => {
    const savanna = Buffer.from(block)
    savanna.writeUInt32LE(2 ** 31, 110)
    expect(leap.findFalseContent(savanna, flipped(traces!, 100))).toBeNull()
  })

  it('findFalseContent compares only transactions if the node stores no traces', () => {
    expect(leap.findFalseContent(block, null)).toBeNull()
    expect(leap.findFalseContent(flipped(block, 200), null)).toBe('transactions')
  })
})
