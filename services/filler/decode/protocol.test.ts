import { describe, expect, it } from 'vitest'
import { fill } from '../../../tests/decode/fill.ts'
import { readAbi } from '../../../tests/decode/recordings.ts'
import { bytesToHex, DecodeError, hexToBytes } from '../../core/bytes/index.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { nameFromString } from '../../core/antelope/index.ts'
import type { AbiDefinition } from '../../core/antelope/abi/index.ts'
import { compileProtocol } from './protocol.ts'
import type { BlocksResult } from './result-reader.ts'

/** Node generations with the properties in which their protocols differ. */
const generations = [
  { name: 'ship.eosio-1.8', chainId: false, blocks: ['get_blocks_result_v0'], typedBlock: false },
  { name: 'ship.eosio-2.0', chainId: false, blocks: ['get_blocks_result_v0'], typedBlock: false },
  {
    name: 'ship.eosio-2.1',
    chainId: true,
    blocks: ['get_blocks_result_v1', 'get_blocks_result_v2'],
    typedBlock: true,
  },
  { name: 'ship.leap', chainId: true, blocks: ['get_blocks_result_v0'], typedBlock: false },
  {
    name: 'ship.spring',
    chainId: true,
    blocks: ['get_blocks_result_v0', 'get_blocks_result_v1'],
    typedBlock: false,
  },
] as const

const id = (num: number): string => num.toString(16).padStart(8, '0') + 'ab'.repeat(28)
const position = (num: number) => ({ block_num: num, block_id: id(num) })
const shown = ({ num, id: bytes }: { num: number; id: Uint8Array }) => ({
  block_num: num,
  block_id: bytesToHex(bytes),
})
const traces = Uint8Array.of(0)
const deltas = Uint8Array.of(0)

function encodeResult(abi: AbiDefinition, value: unknown): Uint8Array {
  const compiled = compileAbi(abi)
  return compiled.encoder('result')(fill(compiled.types.resolve('result'), value))
}

function decodeBlocks(abi: AbiDefinition, frame: Uint8Array): BlocksResult {
  const result = compileProtocol(abi).decodeResult(frame)
  if (result.kind !== 'blocks') throw new TypeError('a blocks result is expected')
  return result
}

function withoutAlternative(abi: AbiDefinition, variant: string, type: string): AbiDefinition {
  const variants = abi.variants.map((entry) =>
    entry.name === variant ? { ...entry, types: entry.types.filter((name) => name !== type) } : entry,
  )
  return { ...abi, variants }
}

const request = {
  start: 101,
  end: 0xffffffff,
  maxInFlight: 10,
  havePositions: [
    { num: 99, id: `00000063${'aa'.repeat(28)}` },
    { num: 100, id: `00000064${'bb'.repeat(28)}` },
  ],
  irreversibleOnly: false,
  fetchBlock: true,
  fetchTraces: true,
  fetchDeltas: true,
}
const requestHex = `65000000ffffffff0a000000026300000000000063${'aa'.repeat(28)}6400000000000064${'bb'.repeat(28)}00010101`

describe.each(generations)('$name', ({ name, chainId, blocks, typedBlock }) => {
  const abi = readAbi(name)
  const protocol = compileProtocol(abi)

  it('the protocol codec packs status, blocks and acknowledgement requests', () => {
    expect(bytesToHex(protocol.encodeStatusRequest())).toBe('00')
    expect(bytesToHex(protocol.encodeAck(10))).toBe('020a000000')
    expect(bytesToHex(protocol.encodeBlocksRequest(request))).toBe(`01${requestHex}`)
    const flags = {
      ...request,
      havePositions: [],
      irreversibleOnly: true,
      fetchBlock: false,
      fetchDeltas: false,
    }
    expect(bytesToHex(protocol.encodeBlocksRequest(flags))).toBe('0165000000ffffffff0a0000000001000100')
  })

  it('the protocol codec reads a status', () => {
    const value = {
      head: position(9),
      last_irreversible: position(7),
      trace_begin_block: 2,
      trace_end_block: 10,
      chain_state_begin_block: 1,
      chain_state_end_block: 11,
      chain_id: 'cd'.repeat(32),
    }
    const status = protocol.decodeResult(encodeResult(abi, ['get_status_result_v0', value]))
    if (status.kind !== 'status') throw new TypeError('a status is expected')
    expect(status).toMatchObject({ traceBegin: 2, traceEnd: 10, stateBegin: 1, stateEnd: 11 })
    expect(status.chainId).toBe(chainId ? 'cd'.repeat(32) : null)
    expect([shown(status.head), shown(status.lastIrreversible)]).toEqual([position(9), position(7)])
  })

  it.each(blocks)('the protocol codec reads a block result %s', (type) => {
    const header = { timestamp: '2026-11-20T09:34:09.500', producer: 'eosio' }
    const compiled = compileAbi(abi)
    const typed = typedBlock && type === 'get_blocks_result_v1'
    const blockType = typedBlock ? 'signed_block_variant' : 'signed_block'
    const block = fill(compiled.types.resolve(blockType), header)
    const packed = compiled.encoder(blockType)(block)
    const value = {
      head: position(12),
      last_irreversible: position(8),
      this_block: position(10),
      prev_block: position(9),
      block: typed ? header : packed,
      block_header: Uint8Array.of(1, 2, 3),
      traces,
      deltas,
      finality_data: Uint8Array.of(9),
    }
    const frame = encodeResult(abi, [type, value])
    const result = decodeBlocks(abi, frame)
    expect(shown(result.head)).toEqual(position(12))
    expect(shown(result.lib)).toEqual(position(8))
    expect(shown(result.this!)).toEqual(position(10))
    expect(shown(result.prev!)).toEqual(position(9))
    expect(bytesToHex(result.block!)).toBe(bytesToHex(packed))
    expect(bytesToHex(result.traces!)).toBe('00')
    expect(bytesToHex(result.deltas!)).toBe('00')
    expect(result.block!.buffer).toBe(frame.buffer)
    const { lo, hi } = nameFromString('eosio')
    expect(protocol.readBlockHeader(result.block!)).toMatchObject({ producerLo: lo, producerHi: hi })
    expect(protocol.readBlockTimeMs(result.block!)).toBe(Date.UTC(2026, 10, 20, 9, 34, 9, 500))
  })

  it.each(blocks)('the protocol codec reads a result %s without a block', (type) => {
    const frame = encodeResult(abi, [type, { head: position(5), last_irreversible: position(3) }])
    expect(decodeBlocks(abi, frame)).toMatchObject({
      this: null,
      prev: null,
      block: null,
      traces: null,
      deltas: null,
    })
  })

  it('the protocol codec refuses truncated frames, trailing bytes and unknown variants', () => {
    const type = blocks[0]
    const payload = Buffer.alloc(200, 1)
    const value = { this_block: position(10), prev_block: position(9), traces: payload, deltas: payload }
    const frame = encodeResult(abi, [type, value])
    for (let length = 0; length < frame.length; length++) {
      expect(() => protocol.decodeResult(frame.subarray(0, length))).toThrow(DecodeError)
    }
    expect(() => protocol.decodeResult(Buffer.concat([frame, Buffer.alloc(1)]))).toThrow('left over')
    expect(() => protocol.decodeResult(Uint8Array.of(99, 0, 0))).toThrow('no alternative 99')
    expect(() => protocol.readBlockHeader(new Uint8Array(11))).toThrow(DecodeError)
  })
})

describe('unusual messages', () => {
  const leap = readAbi('ship.leap')

  it('the protocol codec accepts length prefixes up to 64 bits', () => {
    const frame = Buffer.from(
      encodeResult(leap, { this_block: position(1), deltas: Uint8Array.of(1, 2, 3, 4, 5) }),
    )
    const long = Buffer.concat([
      frame.subarray(0, -6),
      hexToBytes('85808080808080808000'),
      frame.subarray(-5),
    ])
    expect([...decodeBlocks(leap, long).deltas!]).toEqual([1, 2, 3, 4, 5])
    const longer = Buffer.concat([
      frame.subarray(0, -6),
      hexToBytes('8580808080808080808000'),
      frame.subarray(-5),
    ])
    expect(() => decodeBlocks(leap, longer)).toThrow('more than 64 bits')
    const huge = Buffer.concat([frame.subarray(0, -6), hexToBytes('ffffffffffffffffff01')])
    expect(() => decodeBlocks(leap, huge)).toThrow('exceeds')
  })

  it('the protocol codec reports the field at which a truncated frame ends', () => {
    const frame = encodeResult(leap, { this_block: position(1), deltas: Uint8Array.of(1) })
    expect(() => compileProtocol(leap).decodeResult(frame.subarray(0, -1))).toThrow('at result.deltas, byte')
    expect(() => compileProtocol(leap).decodeResult(frame.subarray(0, 50))).toThrow(
      'result.last_irreversible.block_id',
    )
  })

  it('the protocol codec reads the status result v1 of Spring', () => {
    const spring = readAbi('ship.spring')
    const value = { head: position(4), chain_id: 'ef'.repeat(32), finality_data_end_block: 5 }
    const status = compileProtocol(spring).decodeResult(encodeResult(spring, ['get_status_result_v1', value]))
    expect(status).toMatchObject({ kind: 'status', chainId: 'ef'.repeat(32) })
  })

  it('the protocol codec reads a status result without chain id, which is an extension field', () => {
    const frame = encodeResult(leap, ['get_status_result_v0', {}])
    expect(compileProtocol(leap).decodeResult(frame.subarray(0, -32))).toMatchObject({ chainId: null })
  })
})

describe('SHiP protocols of other node builds', () => {
  it('the protocol codec accepts a block variant named signed_block', () => {
    const text = JSON.stringify(readAbi('ship.eosio-2.1')).replaceAll('signed_block_variant', 'signed_block')
    const abi = JSON.parse(text) as AbiDefinition
    const header = { timestamp: '2026-11-20T09:34:09.500', producer: 'eosio' }
    const frame = encodeResult(abi, ['get_blocks_result_v1', { block: ['signed_block_v0', header], traces }])
    const result = decodeBlocks(abi, frame)
    expect(result.block![0]).toBe(0)
    expect(result.deltas).toBeNull()
    expect(compileProtocol(abi).readBlockTimeMs(result.block!)).toBe(Date.UTC(2026, 10, 20, 9, 34, 9, 500))
    expect(() => compileProtocol(abi).readBlockHeader(Buffer.alloc(20, 7))).toThrow('no alternative 7')
  })

  it('the protocol codec sends the next version of the blocks request if the node lacks version 0', () => {
    const abi = withoutAlternative(readAbi('ship.spring'), 'request', 'get_blocks_request_v0')
    expect(bytesToHex(compileProtocol(abi).encodeBlocksRequest(request))).toBe(`02${requestHex}00`)
  })

  const leap = readAbi('ship.leap')
  const renamed = (from: string, to: string): AbiDefinition =>
    JSON.parse(JSON.stringify(leap).replaceAll(`"${from}"`, `"${to}"`)) as AbiDefinition
  it.each([
    ['no request', withoutAlternative(leap, 'request', 'get_blocks_ack_request_v0'), 'acknowledgement'],
    ['no block', withoutAlternative(leap, 'result', 'get_blocks_result_v0'), 'this_block'],
    ['no structs', { ...leap, structs: [] }, 'no usable type result'],
    ['another name for receivers', renamed('receiver', 'recipient'), 'receiver'],
    ['another name for sequences', renamed('global_sequence', 'sequence_number'), 'global_sequence'],
    ['another name for rows', renamed('rows', 'entries'), 'name and rows'],
    ['another name for contract rows', renamed('contract_row', 'contractrow'), 'contract_row'],
    ['the wrong ABI', readAbi('token'), 'result'],
  ])('the protocol codec refuses a protocol with %s', (_, abi, message) => {
    expect(() => compileProtocol(abi)).toThrow(expect.objectContaining({ code: 'SHIP_PROTOCOL' }))
    expect(() => compileProtocol(abi)).toThrow(message)
  })
})
