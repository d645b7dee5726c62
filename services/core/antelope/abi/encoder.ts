import { EncodeError } from '../../bytes/index.ts'
import { ByteSink } from '../../bytes/index.ts'
import { writeBuiltin } from './encode-builtin.ts'
import type { StructNode, TypeNode, VariantNode } from '../types/index.ts'

type Write = (sink: ByteSink, value: unknown) => void

const MAX_ENCODE_DEPTH = 128

/**
 * Packs values of the types of one ABI. Accepts the forms that the decoder returns and the JSON forms of nodes: 64-bit
 * integers as bigint, number or decimal text; bytes as bytes, number list or hexadecimal; variants as `[type, value]`;
 * absent optionals as `null` or missing.
 */
export class Encoder {
  readonly #writers = new Map<TypeNode, Write>()
  #depth = 0

  /**
   * Packs one value.
   * @throws EncodeError with the path of the first value that does not fit.
   */
  encode(node: TypeNode, root: string, value: unknown): Uint8Array {
    const sink = new ByteSink()
    this.#depth = 0
    try {
      this.#writer(node)(sink, value)
    } catch (error) {
      throw within(error, root)
    }
    return sink.finish()
  }

  #writer(node: TypeNode): Write {
    const known = this.#writers.get(node)
    if (known !== undefined) return known
    const write = this.#guarded(this.#build(node))
    this.#writers.set(node, write)
    return write
  }

  // Limits the nesting depth: a JavaScript value can be cyclic, which the packed format cannot express.
  #guarded(write: Write): Write {
    return (sink, value) => {
      if (++this.#depth > MAX_ENCODE_DEPTH)
        throw new EncodeError(`values are nested more than ${MAX_ENCODE_DEPTH} deep`)
      write(sink, value)
      this.#depth--
    }
  }

  #build(node: TypeNode): Write {
    if (node.kind === 'builtin') return (sink, value) => writeBuiltin(sink, node.name, value)
    if (node.kind === 'struct') return this.#struct(node)
    if (node.kind === 'variant') return this.#variant(node)
    if (node.kind === 'optional') {
      return (sink, value) => {
        const present = value !== null && value !== undefined
        sink.u8(present ? 1 : 0)
        if (present) this.#writer(node.inner)(sink, value)
      }
    }
    return (sink, value) => {
      const items = listOf(node.element, value)
      if (node.length === null) sink.varuint32(items.length)
      else if (items.length !== node.length)
        throw new EncodeError(`a list of ${node.length} elements is expected`)
      // Bytes are copied at once: the loop below calls a writer for each element.
      if (items instanceof Uint8Array && node.element.kind === 'builtin' && node.element.name === 'uint8') {
        sink.raw(items)
        return
      }
      const write = this.#writer(node.element)
      for (let i = 0; i < items.length; i++) {
        try {
          write(sink, items[i])
        } catch (error) {
          throw within(error, `[${i}]`)
        }
      }
    }
  }

  #struct(node: StructNode): Write {
    return (sink, value) => {
      if (typeof value !== 'object' || value === null)
        throw new EncodeError(`an object is expected, not ${show(value)}`)
      let ended = false
      for (const field of node.fields) {
        const member = Object.hasOwn(value, field.name)
          ? (value as Record<string, unknown>)[field.name]
          : undefined
        if (ended && (member !== undefined || !field.extension))
          throw new EncodeError('an extension field is missing before this field', `.${field.name}`)
        if (field.extension && member === undefined) {
          ended = true
          continue
        }
        try {
          if (member === undefined && field.type.kind !== 'optional')
            throw new EncodeError('the field is missing')
          this.#writer(field.type)(sink, member)
        } catch (error) {
          throw within(error, `.${field.name}`)
        }
      }
    }
  }

  #variant(node: VariantNode): Write {
    return (sink, value) => {
      if (!Array.isArray(value) || value.length !== 2)
        throw new EncodeError('a pair of type and value is expected for a variant')
      const index = node.alternatives.findIndex((alternative) => alternative.name === value[0])
      const chosen = node.alternatives[index]
      if (chosen === undefined) throw new EncodeError(`variant ${node.name} has no type ${show(value[0])}`)
      sink.varuint32(index)
      this.#writer(chosen.type)(sink, value[1])
    }
  }
}

function listOf(element: TypeNode, value: unknown): ArrayLike<unknown> {
  if (Array.isArray(value)) return value as unknown[]
  // Byte lists are bytes in decoded values and hexadecimal text in the JSON of some tools.
  if (value instanceof Uint8Array && element.kind === 'builtin') return value
  throw new EncodeError(`a list is expected, not ${show(value)}`)
}

function within(error: unknown, step: string): unknown {
  return error instanceof EncodeError ? new EncodeError(error.reason, step + error.path) : error
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : typeof value
}
