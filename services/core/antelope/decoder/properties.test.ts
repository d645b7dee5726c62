import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { abieosForm, describeWithAbieos, unknownToAbieos } from '../../../../tests/decode/abieos.ts'
import { arbitraryAbi, arbitraryValue } from '../../../../tests/decode/arbitrary-abi.ts'
import { seedsBeside } from '../../../../tests/setup/seeds.ts'
import { compileAbi } from './compile.ts'
import { DecodeError } from '../../bytes/index.ts'
import { packAbi, parsePackedAbi } from '../abi/index.ts'
import type { DecodedStruct } from './compile.ts'

/** Decodes a value; undefined if the bytes are refused. */
function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError)
    return undefined
  }
}

/** Compares bytes; only unequal bytes take the slow comparison of single bytes, for its message. */
function expectBytes(found: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(found, expected) !== 0) expect(found).toEqual(expected)
}

const seeds = seedsBeside(20_261_120)
const runsOf = (seed: number) => ({ numRuns: 2_000 / seeds.length, seed, endOnFailure: true })

describe.each(seeds)('random ABIs and values, seed %i', (seed) => {
  const runs = runsOf(seed)

  it('a random ABI and a random value of each of its types round-trip through bytes', () => {
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const { abi: definition, root } = arbitraryAbi(g)
        expect(parsePackedAbi(packAbi(definition))).toEqual(definition)
        const abi = compileAbi(definition)
        const value = arbitraryValue(g, abi.types.resolve(root))
        const bytes = abi.encoder(root)(value)
        const decoded = abi.decoder(root, { exact: true })(bytes)
        expect(abi.toJson(root, decoded)).toEqual(abi.toJson(root, value))
        expectBytes(abi.encoder(root)(decoded), bytes)
        expectBytes(abi.encoder(root)(abi.toJson(root, decoded)), bytes)
      }),
      runs,
    )
  })

  it('the decoder of selected fields returns the same values as the decoder of all fields', () => {
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const { abi: definition, root } = arbitraryAbi(g)
        const abi = compileAbi(definition)
        const bytes = abi.encoder(root)(arbitraryValue(g, abi.types.resolve(root)))
        const whole = abi.decoder<DecodedStruct>(root)(bytes)
        const only = g(() => fc.subarray(Object.keys(whole)))
        const part = abi.decoder<DecodedStruct>(root, { only })(bytes)
        expect(part).toEqual(Object.fromEntries(Object.entries(whole).filter(([key]) => only.includes(key))))
      }),
      runs,
    )
  })

  it('the decoder decodes or refuses truncated and changed bytes of any value', () => {
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const { abi: definition, root } = arbitraryAbi(g)
        const abi = compileAbi(definition)
        const bytes = Buffer.from(abi.encoder(root)(arbitraryValue(g, abi.types.resolve(root))))
        if (bytes.length === 0) return
        const decode = abi.decoder(root, { exact: true })
        const short = bytes.subarray(0, bytes.length - 1)
        // A shortened row may still decode: trailing extension fields may be absent.
        const read = attempt(() => decode(short))
        if (read !== undefined) expectBytes(abi.encoder(root)(read), short)
        bytes[g(() => fc.nat(bytes.length - 1))] = g(() => fc.nat(255))
        attempt(() => decode(bytes))
      }),
      runs,
    )
  })
})

describeWithAbieos('random ABIs and values compared with the native library', (abieos) => {
  const title =
    'the decoder and the native library (abieos) decode any value of any ABI to the same JSON, seed %i'
  it.each(seeds)(title, (seed) => {
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const { abi: definition, root } = arbitraryAbi(g, unknownToAbieos)
        const abi = compileAbi(definition)
        const node = abi.types.resolve(root)
        const bytes = abi.encoder(root)(arbitraryValue(g, node))
        expect(abieos.loadAbiHex('test', Buffer.from(packAbi(definition)).toString('hex'))).toBe(true)
        const theirs = abieos.hexToJson('test', root, Buffer.from(bytes).toString('hex'))
        expect(theirs).toEqual(abieosForm(node, abi.decodeType(root, bytes)))
        abieos.deleteContract('test')
      }),
      runsOf(seed),
    )
  })
})
