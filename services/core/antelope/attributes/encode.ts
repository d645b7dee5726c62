import { ByteSink } from '../../bytes/index.ts'
import { EncodeError } from '../../bytes/index.ts'
import { decodeBase58 } from '../values/base58.ts'
import type { AttributeField } from './format.ts'
import { FIRST_IDENTIFIER } from './format.ts'

/**
 * Packs attributes as the contract stores them in rows: in format order, without absent attributes. Accepts the forms
 * that {@link decodeAttributes} returns, and bigint for 64-bit integers.
 * @throws EncodeError that names the attribute whose value does not fit its type.
 */
export function encodeAttributes(
  format: readonly AttributeField[],
  attributes: Readonly<Record<string, unknown>>,
): Uint8Array {
  const sink = new ByteSink()
  format.forEach(({ name, type }, position) => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    if (value === undefined || value === null) return
    sink.varuint32(position + FIRST_IDENTIFIER)
    try {
      writeValue(sink, type, value)
    } catch (error) {
      throw error instanceof EncodeError ? new EncodeError(error.reason, name) : error
    }
  })
  return sink.finish()
}

function writeValue(sink: ByteSink, type: string, value: unknown): void {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) throw new EncodeError('a list is expected')
    sink.list(value as unknown[], (item) => writeScalar(sink, type.slice(0, -2), item))
  } else writeScalar(sink, type, value)
}

const integerBits: Readonly<Record<string, number>> = { '8': 8, '16': 16, '32': 32, '64': 64 }

function writeScalar(sink: ByteSink, type: string, value: unknown): void {
  const integer = /^(uint|int|fixed)(8|16|32|64)$/.exec(type)
  if (integer !== null) {
    writeInteger(sink, integer[1]!, integerBits[integer[2]!]!, value)
  } else if (type === 'float' || type === 'double') {
    if (typeof value !== 'number') throw new EncodeError('a number is expected')
    if (type === 'float') sink.f32(value)
    else sink.f64(value)
  } else if (type === 'bool') sink.u8(value === true || value === 1 ? 1 : 0)
  else if (type === 'byte') sink.u8(Number(integerOf(value, 8, false)))
  else if (type === 'string' || type === 'image') sink.text(textOf(value))
  else if (type === 'ipfs') sink.blob(decodeBase58(textOf(value)))
  else throw new EncodeError(`no value of type ${JSON.stringify(type)} can be stored`)
}

function writeInteger(sink: ByteSink, form: string, bits: number, value: unknown): void {
  const number = integerOf(value, bits, form === 'int')
  if (form === 'uint') sink.varuint64(number)
  else if (form === 'int') sink.varuint64(number >= 0n ? number * 2n : number * -2n - 1n)
  else for (let shift = 0; shift < bits; shift += 8) sink.u8(Number((number >> BigInt(shift)) & 0xffn))
}

function integerOf(value: unknown, bits: number, signed: boolean): bigint {
  const exact = typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint'
  if (exact || (typeof value === 'string' && /^-?\d{1,20}$/.test(value))) {
    const integer = BigInt(value as string | number | bigint)
    if (integer === (signed ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer))) return integer
  }
  throw new EncodeError(`${signed ? 'a signed' : 'an unsigned'} integer of ${bits} bits is expected`)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new EncodeError('a text is expected')
}
