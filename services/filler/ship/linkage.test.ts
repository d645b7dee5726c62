import { describe, expect, test } from 'vitest'
import { generations, packBlock } from '../../../tests/ship/wire.ts'
import { ChainTail } from './linkage.ts'

function idOf(num: number, branch: number): Buffer {
  const id = Buffer.alloc(32, branch)
  id.writeUInt32BE(num)
  return id
}

describe.each(generations)('blocks of a %s node whose messages lack the parent id', (generation) => {
  test('blocks are linked by their header', () => {
    const tail = new ChainTail()
    tail.reset({ lastApplied: null, havePositions: [] } as never, 5)
    tail.append(5, idOf(5, 1), 1)
    const linkageOf = (num: number, previous: Buffer) =>
      tail.classify({ num, id: idOf(num, 2) }, null, packBlock(generation, num, previous))
    expect(linkageOf(6, idOf(5, 1))).toBe('next')
    expect(linkageOf(6, idOf(5, 2))).toBe('unlinked')
    tail.append(6, idOf(6, 1), 1)
    expect(linkageOf(6, idOf(5, 1))).toBe('fork')
    expect(linkageOf(6, idOf(5, 3))).toBe('unlinked')
  })
})
