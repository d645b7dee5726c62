import fc from 'fast-check'
import { expect, it } from 'vitest'
import { packAbi } from '../../services/core/antelope/abi/index.ts'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { abieosForm, describeWithAbieos, unknownToAbieos } from '../decode/abieos.ts'
import { arbitraryAbi, arbitraryValue } from '../decode/arbitrary-abi.ts'
import { createRandom } from '../integration/seeded-random.ts'
import type { SeededRandom } from '../integration/seeded-random.ts'
import { readNumber } from '../setup/read-number.ts'

/** Total number of rows over all ABIs. `npm run hostile` decodes a million. */
const ROWS = readNumber('HOSTILE_ROWS', 5_000, 1, 1e9)
const VALUES_OF_ABI = 5
/** Number of packed rows for each generated value: one undamaged row, the others with damaged bytes. */
const ROWS_OF_VALUE = 20
const ROWS_OF_ABI = VALUES_OF_ABI * ROWS_OF_VALUE
const MS_FOR_A_ROW = 5

/**
 * Error messages for data that no node writes but that the native library accepts: invalid values, bytes after the
 * last field, and thousands of values that take no bytes.
 */
const REFUSED_BY_NODES =
  /bytes are left over|symbol has other characters|symbol has the precision|neither false nor true|more than 32 bits|amount of an asset|far too many values/

/** Times are not compared: the native library supports years up to 2106, and damaged bytes mostly mean later years. */
const notCompared = [...unknownToAbieos, 'time_point'] as const

/** Byte values at limits: of lengths, of letters, of variable-length numbers. */
const edges = [0, 1, 2, 7, 64, 65, 90, 127, 128, 255]

/** Copies a packed row with some bytes changed, removed or added. */
function damaged(random: SeededRandom, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes
  const at = random.between(0, bytes.length - 1)
  const chance = random.fraction()
  if (chance < 0.1) return bytes.subarray(0, at)
  if (chance < 0.2) return Uint8Array.of(...bytes, random.between(0, 255))
  const changed = Uint8Array.from(bytes)
  for (let count = random.between(1, 3); count > 0; count--)
    changed[random.between(at, bytes.length - 1)] = edges[random.between(0, edges.length - 1)]!
  return changed
}

/**
 * JSON text of a value for comparison. For invalid UTF-8, the native library writes another replacement character than
 * this decoder, and another number of them. Each run of replacement characters therefore becomes a single one.
 */
const comparable = (value: unknown): string => JSON.stringify(value).replaceAll(/[?\ufffd]+/g, '?')

function attempt(read: () => unknown): { readonly value?: string; readonly error?: string } {
  try {
    return { value: comparable(read()) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

describeWithAbieos('rows of any ABI, some of them damaged', (abieos) => {
  it(
    `${ROWS} rows are decoded as by the native library, or refused because no node writes them`,
    { timeout: Math.max(120_000, ROWS * MS_FOR_A_ROW) },
    () => {
      let equal = 0
      fc.assert(
        fc.property(fc.gen(), (g) => {
          const { abi: definition, root } = arbitraryAbi(g, notCompared)
          const abi = compileAbi(definition)
          const node = abi.types.resolve(root)
          const decode = abi.decoder(root, { exact: true })
          expect(abieos.loadAbiHex('test', Buffer.from(packAbi(definition)).toString('hex'))).toBe(true)
          const random = createRandom(g(() => fc.integer()))
          const values = Array.from({ length: VALUES_OF_ABI }, () =>
            abi.encoder(root)(arbitraryValue(g, node)),
          )
          for (let at = 0; at < ROWS_OF_ABI; at++) {
            const value = values[at % VALUES_OF_ABI]!
            const bytes = at < VALUES_OF_ABI ? value : damaged(random, value)
            const hex = Buffer.from(bytes).toString('hex')
            const ours = attempt(() => abieosForm(node, decode(bytes)))
            const theirs = attempt(() => abieos.hexToJson('test', root, hex))
            if (ours.error === undefined) expect(ours.value, hex).toBe(theirs.value)
            else if (theirs.error === undefined) expect(ours.error, hex).toMatch(REFUSED_BY_NODES)
            if (ours.error === undefined) equal++
          }
          abieos.deleteContract('test')
        }),
        { numRuns: Math.ceil(ROWS / ROWS_OF_ABI), endOnFailure: true },
      )
      expect(equal).toBeGreaterThan(ROWS / 10)
    },
  )
})
