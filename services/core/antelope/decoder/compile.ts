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

/** A decoded struct: field name to value. Fields named like members of Object are own properties. */
export type DecodedStruct = Record<string, unknown>

/**
 * Reads one value from `bytes` between `start` and `end` (by default all of it).
 * @throws DecodeError with path and offset when the bytes do not fit.
 */
export type Decoder<T = unknown> = (bytes: Uint8Array, start?: number, end?: number) => T

/** Packs one value. @throws EncodeError with path when it does not fit the type. */
export type ValueEncoder = (value: unknown) => Uint8Array

/** How to decode. */
export interface DecoderOptions {
  /** Fields of the struct to decode: others are skipped, and reading stops after the last of these. */
  readonly only?: readonly string[]
  /** Refuse bytes that are left over after the value; with `only`, the fields after the last of these are skipped. */
  readonly exact?: boolean
}

/**
 * Decoders and encoders for the types of one ABI, created on first use.
 *
 * Values: integers of 64 bits and more are bigint, smaller ones and floats number, names, keys, symbols
 * (`8,WAX`), assets (`1.00000000 WAX`), times (as nodes print them) and checksums (hexadecimal) text,
 * `bytes` and `uint8[]` both Uint8Array views of the input, absent options `null`, absent extensions left
 * out, variants `[type, value]`, structs objects.
 */
export interface CompiledAbi {
  readonly definition: AbiDefinition
  /** The type graph, for walkers that are generated outside. */
  readonly types: TypeGraph
  /** Decodes bytes from `offset` to their end, ignoring what is left over. */
  decodeType(type: string, bytes: Uint8Array, offset?: number): unknown
  /** A decoder specialised for a type. @throws AbiError when the ABI does not define the type. */
  decoder<T = unknown>(type: string, options?: DecoderOptions): Decoder<T>
  /** An encoder for a type. @throws AbiError when the ABI does not define the type. */
  encoder(type: string): ValueEncoder
  /** JSON form of a decoded value: integers of 64 bits as asked for (default `text`), `bytes` as hexadecimal. */
  toJson(type: string, value: unknown, integers?: IntegerForm): JsonValue
  /** Type of an action's data, undefined for an action that the ABI does not list. */
  actionType(name: string): string | undefined
  /** Type of a table's rows, undefined for a table that the ABI does not list. */
  tableType(name: string): string | undefined
}

const MAX_WORK = 1 << 18

/**
 * Prepares an ABI.
 * @param rule what decoders take for a value. What is wrong with the ABI shows on use of the types that it touches.
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
        throw new DecodeError(`${end - state.at} bytes are left over`, root, state.at)
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
    if (node.kind !== 'struct') throw new AbiError('only a struct has fields to choose from')
    body = `${emitter.structBody(node, new Set(options.only), options.exact)} R.at = p; return result;`
  }
  // The prologue is part of every function; a value that needs no statement leaves `p` unused.
  const main = `function main() { const b = R.bytes, v = R.view, e = R.end; let p = R.at; ${body} }`
  return linkCode(`${emitter.functions.join('\n')}\n${main}\nreturn main;`) as () => unknown
}
