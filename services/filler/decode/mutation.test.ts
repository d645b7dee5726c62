import { describe, expect, it } from 'vitest'
import { readAbi, readRecording } from '../../../tests/decode/recordings.ts'
import { AbiError, DecodeError } from '../../core/bytes/index.ts'
import {
  attributeMapToJson,
  attributesToJsonText,
  decodeAttributes,
} from '../../core/antelope/attributes/index.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { AttributeField } from '../../core/antelope/attributes/format.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { compileProtocol } from './protocol.ts'
import { createWatchSet } from './watch-set.ts'
import type { Protocol } from './protocol.ts'
import type { ScannedAction } from './scanned.ts'
import { patient } from '../../../tests/setup/patience.ts'
import { roundsOfSeed, seedsBeside } from '../../../tests/setup/seeds.ts'

const mutants = roundsOfSeed(40_000, 1_000_000)
const MEGABYTE = 2 ** 20

/** Small seeded random generator (xorshift32), so that a failure can be reproduced from the seed. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed | 0 || 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const interesting = [0x00, 0x01, 0x02, 0x7f, 0x80, 0xfe, 0xff]

/** Returns a damaged copy of a frame: bytes replaced, bits flipped, runs of 0xff, pieces cut, doubled or moved. */
function mutate(frame: Buffer, scratch: Buffer, random: (below: number) => number): Buffer {
  let length = frame.copy(scratch)
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const at = random(Math.max(1, length))
    switch (random(7)) {
      case 0:
        scratch[at] = random(256)
        break
      case 1:
        scratch[at] = interesting[random(interesting.length)]!
        break
      case 2:
        scratch[at] = scratch[at]! ^ (1 << random(8))
        break
      case 3:
        scratch.fill(0xff, at, Math.min(length, at + 1 + random(10)))
        break
      case 4:
        length = at
        break
      case 5: {
        const cut = Math.min(1 + random(64), length - at)
        scratch.copy(scratch, at, at + cut, length)
        length -= cut
        break
      }
      default: {
        const source = random(Math.max(1, length))
        const size = Math.min(1 + random(64), length - source, length - at)
        scratch.copy(scratch, at, source, source + size)
      }
    }
  }
  return scratch.subarray(0, length)
}

/** Decodes a frame as the filler does, including the values for handlers. */
class Reading {
  readonly #protocol: Protocol
  readonly #assets: CompiledAbi
  readonly #watch = createWatchSet(['atomicassets', 'eosio', 'eosio.token'])
  readonly #format: AttributeField[]
  values = 0

  constructor(protocol: Protocol, assets: CompiledAbi) {
    this.#protocol = protocol
    this.#assets = assets
    const types = ['string', 'uint64', 'int8[]', 'ipfs', 'double', 'image', 'bool[]', 'fixed32', 'int64[]']
    this.#format = types.map((type, i) => ({ name: `n${i}`, type }))
  }

  read(frame: Buffer): void {
    const result = this.#protocol.decodeResult(frame)
    if (result.kind === 'status') return
    if (result.block !== null) this.#protocol.readBlockTimeMs(result.block)
    if (result.traces !== null) {
      for (const action of this.#protocol.collectActions(result.traces, this.#watch)) this.#action(action)
    }
    if (result.deltas === null) return
    this.#protocol.scanDeltas(result.deltas, this.#watch, {
      row: (row) => {
        this.#value(this.#assets.tableType(row.table), row.payload, row.valueStart, row.valueEnd)
      },
      account: (_, abi) => {
        this.#abi(abi)
      },
    })
  }

  #action(action: ScannedAction): void {
    action.actors()
    if (action.name === 'setabi') this.#abi(action.data.subarray(9))
    this.#value(this.#assets.actionType(action.name), action.payload, action.dataStart, action.dataEnd)
  }

  #value(type: string | undefined, bytes: Uint8Array, start: number, end: number): void {
    this.values++
    decodeAttributes(this.#format, bytes.subarray(start, end))
    if (type === undefined) return
    const value = this.#assets.decoder<Record<string, unknown>>(type)(bytes, start, end)
    for (const name of ['immutable_data', 'mutable_data', 'new_data']) {
      if (name in value) attributesToJsonText(attributeMapToJson(value[name]))
    }
  }

  // Accounts may publish any bytes as an ABI: reading and compiling them must be harmless.
  #abi(packed: Uint8Array): void {
    if (packed.length === 0) return
    try {
      const abi = compileAbi(parsePackedAbi(packed))
      for (const { type } of abi.definition.tables.slice(0, 2)) abi.decoder(type)(new Uint8Array(64))
    } catch (error) {
      if (!(error instanceof AbiError) && !(error instanceof DecodeError)) throw error
    }
  }
}

describe('mutated frames', () => {
  it.each(seedsBeside(20_261_120))(
    `the decoder decodes ${mutants} mutated frames or reports the path of the fault, within bounded memory, seed %i`,
    (seed) => {
      const { shipAbi, frames } = readRecording('main')
      const reading = new Reading(compileProtocol(shipAbi), compileAbi(readAbi('assets.v2')))
      const small = frames.filter((frame) => frame.length < 3000)
      const middle = frames.filter((frame) => frame.length >= 3000 && frame.length < 60_000)
      const scratch = Buffer.alloc(Math.max(...frames.map((frame) => frame.length)))
      const random = seededRandom(seed)
      const before = process.memoryUsage()
      const most = { heapUsed: 0, rss: 0 }
      let refused = 0
      for (let i = 0; i < mutants; i++) {
        const pool = random(100) < 2 ? middle : small
        const mutant = mutate(pool[random(pool.length)]!, scratch, random)
        try {
          reading.read(mutant)
        } catch (error) {
          if (!(error instanceof DecodeError))
            throw new Error(`mutant ${i} fails with another error`, { cause: error })
          if (!/\(at .+\)$/.test(error.message))
            throw new Error(`mutant ${i}: no place in "${error.message}"`)
          refused++
        }
        if (i % 1000 !== 0) continue
        const now = process.memoryUsage()
        most.heapUsed = Math.max(most.heapUsed, now.heapUsed)
        most.rss = Math.max(most.rss, now.rss)
      }
      expect(refused).toBeGreaterThan(mutants / 4)
      expect(mutants - refused).toBeGreaterThan(mutants / 10)
      expect(reading.values).toBeGreaterThan(mutants / 10)
      expect(most.heapUsed - before.heapUsed).toBeLessThan(300 * MEGABYTE)
      expect(most.rss - before.rss).toBeLessThan(600 * MEGABYTE)
    },
    patient(600_000),
  )
})
