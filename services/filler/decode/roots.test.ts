import { describe, expect, it } from 'vitest'
import { readAbi, readRecording, recordingNames } from '../../../tests/decode/recordings.ts'
import { compileProtocol } from './protocol.ts'

const leap = compileProtocol(readAbi('ship.leap'))

interface Sent {
  readonly num: number
  readonly block: Uint8Array
  readonly traces: Uint8Array | null
}

function blocksOf(name: (typeof recordingNames)[number]): Sent[] {
  return readRecording(name).frames.flatMap((frame) => {
    const result = leap.decodeResult(frame)
    if (result.kind !== 'blocks' || result.this === null || result.block === null) return []
    return [{ num: result.this.num, block: result.block, traces: result.traces }]
  })
}

describe('the content of a block is compared with the roots in its header', () => {
  it.each(recordingNames)('recorded nodes sent the content that their headers name, %s', (name) => {
    const blocks = blocksOf(name)
    const wrong = blocks.flatMap(({ num, block, traces }) => {
      const found = leap.findFalseContent(block, traces)
      return found === null ? [] : [[num, found]]
    })
    expect(wrong).toEqual([])
  })
})
