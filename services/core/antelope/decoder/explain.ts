import { DecodeError } from '../../bytes/index.ts'
import {
  assetAt,
  beginReading,
  boolAt,
  DecodeFailure,
  descend,
  readBitset,
  readCount,
  readText,
  readVaruint32,
  refuse,
  skipBytes,
  skipKey,
  state,
  symbolAt,
  symbolCodeAt,
  tooShort,
} from './read-state.ts'
import type { ReadingRule } from './read-state.ts'
import type { Measures } from './measure.ts'
import { builtinSizes, type BuiltinName, type TypeNode } from '../types/index.ts'

// Maximum size in bytes of a value that is decoded a second time to find the path of a failure. For a larger value, the
// path of the error contains only the type's name.
const MAX_EXPLAINED_BYTES = 16 * 1024 * 1024

/**
 * Finds the path at which decoding failed: decodes the value a second time and tracks the path. The generated decoders
 * track no path, because nearly every value decodes without an error.
 */
export function explainFailure(
  failure: DecodeFailure,
  { node, root, measures }: { readonly node: TypeNode; readonly root: string; readonly measures: Measures },
  range: {
    readonly bytes: Uint8Array
    readonly start: number
    readonly end: number
    readonly rule?: ReadingRule
  },
): DecodeError {
  const path: string[] = [root.length > 64 ? `${root.slice(0, 64)}…` : root]
  if (range.end - range.start > MAX_EXPLAINED_BYTES) {
    return new DecodeError(failure.message, path[0]!, failure.offset)
  }
  try {
    beginReading(range.bytes, range.start, range.end, range.rule)
    walk(node, path, measures)
  } catch (error) {
    if (error instanceof DecodeFailure) return new DecodeError(error.message, path.join(''), error.offset)
    throw error
  }
  return new DecodeError(failure.message, path[0]!, failure.offset)
}

function walk(node: TypeNode, path: string[], measures: Measures): void {
  const { fixedSize, work } = measures.of(node)
  if (fixedSize !== null && node.kind === 'builtin') {
    if (fixedSize > state.end - state.at) tooShort(state.at)
    checkFixed(node.name)
    state.at += fixedSize
    return
  }
  if ('recursive' in node && node.recursive) descend(work)
  walkInside(node, path, measures)
  if ('recursive' in node && node.recursive) state.depth--
}

function walkInside(node: TypeNode, path: string[], measures: Measures): void {
  if (node.kind === 'builtin') skipBuiltin(node.name)
  else if (node.kind === 'struct') {
    for (const field of node.fields) {
      if (field.extension && state.at >= state.end) continue
      walkAt(`.${field.name.slice(0, 64)}`, field.type, path, measures)
    }
  } else if (node.kind === 'optional') {
    if (state.at >= state.end) tooShort(state.at)
    if (state.bytes[state.at++] !== 0) walk(node.inner, path, measures)
  } else if (node.kind === 'variant') {
    const start = state.at
    const index = readVaruint32()
    const chosen = node.alternatives[index]
    if (chosen === undefined) refuse(`variant ${node.name.slice(0, 48)} has no alternative ${index}`, start)
    walk(chosen.type, path, measures)
  } else {
    const element = measures.of(node.element)
    const recursive = 'recursive' in node.element && node.element.recursive
    const count = node.length ?? readCount(element.minSize, recursive ? 1 : element.work)
    for (let i = 0; i < count; i++) walkAt(`[${i}]`, node.element, path, measures)
  }
}

function walkAt(step: string, node: TypeNode, path: string[], measures: Measures): void {
  path.push(step)
  walk(node, path, measures)
  path.pop()
}

/** Refuses values of fixed size that no chain node accepts, as the generated decoders do. */
function checkFixed(name: BuiltinName): void {
  const { at } = state
  if (name === 'bool' && state.bytes[at]! > 1) boolAt(at)
  else if (name === 'symbol') symbolAt(at)
  else if (name === 'symbol_code') symbolCodeAt(at)
  else if (name === 'asset' || name === 'extended_asset') assetAt(at)
}

function skipBuiltin(name: BuiltinName): void {
  if (name === 'public_key') skipKey('PUB')
  else if (name === 'signature') skipKey('SIG')
  else if (builtinSizes[name] === null && name.endsWith('int32')) readVaruint32()
  else if (name === 'string') readText()
  else if (name === 'bitset') readBitset()
  else skipBytes()
}
