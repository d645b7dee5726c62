import { AbiError, DecodeError } from '../../bytes/index.ts'
import { CodeEmitter } from './code-emitter.ts'
import type { AbiDefinition } from '../abi/index.ts'
import { Encoder } from '../abi/index.ts'
import { explainFailure } from './explain.ts'
import { toJsonForm, type IntegerForm, type JsonValue } from '../abi/index.ts'
import { linkCode } from './link.ts'
import { Measures } from './measure.ts'
import { beginReading, DecodeFailure, state, type ReadingRule } from './read-state.ts'
import { TypeGraph } from './type-graph.ts'
import type { TypeNode } from '../types/index.ts'

/** A decoded struct: field name to value. All fields are own properties, even if named like members of Object. */
export type DecodedStruct = Record<string, unknown>

/**
 * Decodes one value from `bytes` between `start` and `end` (default: all bytes).
 * @throws DecodeError with path and offset if the bytes do not fit the type.
 */
export type Decoder<T = unknown> = (bytes: Uint8Array, start?: number, end?: number) => T

/**
 * Packs one value.
 * @throws EncodeError with path if the value does not fit the type.
 */
export type ValueEncoder = (value: unknown) => Uint8Array

export interface DecoderOptions {
  /** Fields to decode. Other fields are skipped, and reading stops after the last wanted field. */
  readonly only?: readonly string[]
  /**
   * Whether to refuse bytes left over after the value. Combined with `only`, the fields after the last wanted
   * field are skipped first.
   */
  readonly exact?: boolean
}

/**
 * Decoders and encoders for the types of one ABI, created on first use.
 *
 * Forms of decoded values:
 * - integers of 64 bits and more: bigint
 * - smaller integers, and floats: number
 * - names, keys, symbols (`8,WAX`), assets (`1.00000000 WAX`), times (in the format of nodes) and checksums
 * (hexadecimal): text
 * - `bytes` and `uint8[]`: Uint8Array views of the input
 * - absent optionals: `null`; absent extensions: no member
 * - variants: `[type, value]`; structs: objects
 */
export interface CompiledAbi {
  readonly definition: AbiDefinition
  /** The resolved types, for code generators outside this module. */
  readonly types: TypeGraph
  /** Decodes a value at `offset` and ignores bytes after the value. */
  decodeType(type: string, bytes: Uint8Array, offset?: number): unknown
  /**
   * Creates a decoder specialised for a type.
   * @throws AbiError if the ABI does not define the type.
   */
  decoder<T = unknown>(type: string, options?: DecoderOptions): Decoder<T>
  /**
   * Creates an encoder for a type.
   * @throws AbiError if the ABI does not define the type.
   */
  encoder(type: string): ValueEncoder
  /**
   * Converts a decoded value to JSON: 64-bit integers in the form `integers` (default `text`), `bytes` as hexadecimal.
   */
  toJson(type: string, value: unknown, integers?: IntegerForm): JsonValue
  /** Type of an action's data; undefined if the ABI does not list the action. */
  actionType(name: string): string | undefined
  /** Type of a table's rows; undefined if the ABI does not list the table. */
  tableType(name: string): string | undefined
}

const MAX_WORK = 1 << 18

/**
 * Prepares an ABI. Errors in the ABI only affect the types that depend on them, when such a type is used.
 * @param rule which byte sequences decoders accept as values.
 */
export function compileAbi(definition: AbiDefinition, rule: ReadingRule = 'strict'): CompiledAbi {
  return new AbiCompiler(definition, rule)
}

class AbiCompiler implements CompiledAbi {
  readonly definition: AbiDefinition
  readonly types: TypeGraph
  readonly #rule: ReadingRule
  readonly #measures = new Measures()
  readonly #encoder = new Encoder()
  readonly #decoders = new Map<string, Decoder>()
  readonly #actions: ReadonlyMap<string, string>
  readonly #tables: ReadonlyMap<string, string>

  constructor(definition: AbiDefinition, rule: ReadingRule) {
    this.definition = definition
    this.#rule = rule
    this.types = new TypeGraph(definition)
    this.#actions = new Map(definition.actions.map((action) => [action.name, action.type]))
    this.#tables = new Map(definition.tables.map((table) => [table.name, table.type]))
  }

  decodeType(type: string, bytes: Uint8Array, offset = 0): unknown {
    return this.decoder(type)(bytes, offset)
  }

  decoder<T = unknown>(type: string, options: DecoderOptions = {}): Decoder<T> {
    const key = JSON.stringify([type, options.only ?? null, options.exact ?? false])
    let decoder = this.#decoders.get(key)
    if (decoder === undefined) {
      decoder = this.#compile(type, options)
      this.#decoders.set(key, decoder)
    }
    return decoder as Decoder<T>
  }

  encoder(type: string): ValueEncoder {
    const node = this.types.resolve(type)
    return (value) => this.#encoder.encode(node, type, value)
  }

  toJson(type: string, value: unknown, integers?: IntegerForm): JsonValue {
    return toJsonForm(this.types.resolve(type), value, integers)
  }

  actionType(name: string): string | undefined {
    return this.#actions.get(name)
  }

  tableType(name: string): string | undefined {
    return this.#tables.get(name)
  }

  #compile(type: string, options: DecoderOptions): Decoder {
    const node = this.types.resolve(type)
    const { work } = this.#measures.of(node)
    if (work > MAX_WORK) throw new AbiError(`type ${JSON.stringify(type.slice(0, 96))} has too many fields`)
    const read = linkDecoder(node, options, this.#measures)
    const exact = options.exact ?? false
    const root = type
    const measures = this.#measures
    const rule = this.#rule
    return (bytes, start = 0, end = bytes.length) => {
      beginReading(bytes, start, end, rule)
      let value: unknown
      try {
        value = read()
      } catch (error) {
        if (!(error instanceof DecodeFailure)) throw error
        throw explainFailure(error, { node, root, measures }, { bytes, start, end, rule })
      }
      if (exact && state.at !== end)
        throw new DecodeError(`${end - state.at} bytes are left over after the value`, root, state.at)
      return value
    }
  }
}

function linkDecoder(node: TypeNode, options: DecoderOptions, measures: Measures): () => unknown {
  const emitter = new CodeEmitter(measures)
  let body: string
  if (options.only === undefined) {
    const part = emitter.read(node)
    body = `${part.code} R.at = p; return ${part.value};`
  } else {
    if (node.kind !== 'struct') throw new AbiError('fields can be selected from a struct only')
    body = `${emitter.structBody(node, new Set(options.only), options.exact)} R.at = p; return result;`
  }
  // Every generated function declares all variables, even if the function reads nothing and does not use `p`.
  const main = `function main() { const b = R.bytes, v = R.view, e = R.end; let p = R.at; ${body} }`
  return linkCode(`${emitter.functions.join('\n')}\n${main}\nreturn main;`) as () => unknown
}
