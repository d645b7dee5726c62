import { describe, expect, it } from 'vitest'
import { readAbi, readRecording, recordingNames } from '../../../tests/decode/recordings.ts'
import { compileProtocol } from './protocol.ts'

const leap = compileProtocol(readAbi('ship.leap'))

interface Sent {
  readonly num: number
  readonly id: Uint8Array
  readonly payload: Uint8Array
}

function blocksOf(name: (typeof recordingNames)[number]): Sent[] {
  return readRecording(name).frames.flatMap((frame) => {
    const result = leap.decodeResult(frame)
    if (result.kind !== 'blocks' || result.this === null || result.block === null) return []
    return [{ num: result.this.num, id: result.this.id, payload: result.block }]
  })
}

describe('the id of a block and its header', () => {
  it.each(recordingNames)('isBlock accepts the id of each recorded block for its header: %s', (name) => {
    const blocks = blocksOf(name)
    expect(blocks.length).toBeGreaterThan(10)
    for (const { num, id, payload } of blocks)
      expect([num, leap.isBlock(payload, num, id)]).toEqual([num, true])
  })

  const { num, id, payload } = blocksOf('main')[100]!
  const flipped = (at: number) => {
    const copy = Buffer.from(payload)
    copy[at]! ^= 0x10
    return copy
  }

  it.each([0, 5, 13, 20, 60, 100, 112])(
    'a block header whose byte %d was changed does not match the block id',
    (at) => {
      expect(leap.isBlock(payload, num, id)).toBe(true)
      expect(leap.isBlock(flipped(at), num, id)).toBe(false)
    },
  )

  it('isBlock compares block number and header hash; the producer signature is not part of the hash', () => {
    expect(leap.isBlock(payload, num + 1, id)).toBe(false)
    expect(leap.isBlock(payload, num, flipped(0).subarray(0, 32))).toBe(false)
    expect(leap.isBlock(flipped(120), num, id)).toBe(true)
  })

  it('bytes that are not a block header match no id', () => {
    for (const length of [0, 1, 50, 115])
      expect(leap.isBlock(payload.subarray(0, length), num, id)).toBe(false)
    expect(leap.isBlock(Buffer.alloc(200, 0xff), num, id)).toBe(false)
  })

  it.each(['eosio-1.8', 'eosio-2.0', 'spring'])('isBlock finds the header in blocks of %s', (generation) => {
    const protocol = compileProtocol(readAbi(`ship.${generation}`))
    expect(protocol.isBlock(payload, num, id)).toBe(true)
    expect(protocol.isBlock(flipped(30), num, id)).toBe(false)
  })

  it('isBlock finds the header after the variant index in blocks of EOSIO 2.1', () => {
    const protocol = compileProtocol(readAbi('ship.eosio-2.1'))
    const variant = Buffer.concat([Buffer.of(1), payload])
    expect(protocol.isBlock(variant, num, id)).toBe(true)
    expect(protocol.isBlock(Buffer.concat([Buffer.of(1), flipped(30)]), num, id)).toBe(false)
    expect(protocol.isBlock(Buffer.concat([Buffer.of(9), payload]), num, id)).toBe(false)
  })
})
