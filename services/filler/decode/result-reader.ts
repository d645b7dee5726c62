import type { CodeEmitter } from '../../core/antelope/decoder/index.ts'
import type { FieldNode, StructNode, TypeNode } from '../../core/antelope/types/index.ts'
import { linkCode, PROLOGUE } from '../../core/antelope/decoder/index.ts'
import { fieldOf, unusableProtocol, requireBuiltin, structsOf } from './protocol-shape.ts'
import { assignBytes, readSmall, REFUSE_REST } from './walker-code.ts'

/** Block number and id as in a message; `id` is a view of 32 bytes. */
export interface ResultPosition {
  readonly num: number
  readonly id: Uint8Array
}

/**
 * Reply to a status request. Ranges are half-open; begin and end of a range are both 0 if the node does not keep this
 * log.
 */
export interface StatusResult {
  readonly kind: 'status'
  readonly head: ResultPosition
  readonly lastIrreversible: ResultPosition
  readonly traceBegin: number
  readonly traceEnd: number
  readonly stateBegin: number
  readonly stateEnd: number
  /** Chain id as 64 hexadecimal digits; null for old nodes, which do not send the chain id. */
  readonly chainId: string | null
}

/** A message of a block stream. Payloads are views of the frame; null if the node sent none. */
export interface BlocksResult {
  readonly kind: 'blocks'
  readonly head: ResultPosition
  readonly lib: ResultPosition
  readonly this: ResultPosition | null
  readonly prev: ResultPosition | null
  readonly block: Uint8Array | null
  readonly traces: Uint8Array | null
  readonly deltas: Uint8Array | null
}

/** Reads the `result` at the current position of the decoder. */
export type ResultReader = () => StatusResult | BlocksResult

/**
 * Generates the reader of `result` frames. Identifies status and block results by their fields, because nodes have
 * used one name for two layouts. @throws FatalError `SHIP_PROTOCOL` if the protocol has no result with blocks.
 */
export function generateResultReader(emitter: CodeEmitter, result: TypeNode): ResultReader {
  const alternatives = structsOf(result, 'result')
  if (!alternatives.some(({ struct }) => fieldOf(struct, 'this_block') !== undefined)) {
    throw unusableProtocol('no alternative of the variant result has the field this_block')
  }
  const cases = alternatives.map(({ struct }, index) => `case ${index}: { ${readResult(emitter, struct)} }`)
  const main = `
    function main() {
      ${PROLOGUE}
      ${readSmall('k')}
      switch (k) {
        ${cases.join('\n')}
        default: refuse('result has no alternative ' + k, p - 1);
      }
    }`
  return linkCode(`${emitter.functions.join('\n')}\n${main}\nreturn main;`) as ResultReader
}

function readResult(emitter: CodeEmitter, struct: StructNode): string {
  if (fieldOf(struct, 'this_block') !== undefined) return readBlocks(emitter, struct)
  if (fieldOf(struct, 'trace_begin_block') !== undefined) return readStatus(emitter, struct)
  return `refuse(${JSON.stringify(`the node sent a ${struct.name}, which the reader did not request`)}, p - 1);`
}

const blocksMembers: Readonly<Record<string, string>> = {
  head: 'head',
  last_irreversible: 'lib',
  this_block: 'this',
  prev_block: 'prev',
  block: 'block',
  traces: 'traces',
  deltas: 'deltas',
}

function readBlocks(emitter: CodeEmitter, struct: StructNode): string {
  const members: string[] = []
  let code = ''
  for (const field of struct.fields) {
    const member = Object.hasOwn(blocksMembers, field.name) ? blocksMembers[field.name] : undefined
    if (member === undefined) {
      code += emitter.skipFields([field])
      continue
    }
    const value = `m_${member}`
    const isPayload = ['block', 'traces', 'deltas'].includes(member)
    code += isPayload ? readPayload(emitter, field, value) : readPosition(emitter, field, value)
    members.push(`${member}: ${value}`)
  }
  if (members.length !== Object.keys(blocksMembers).length) {
    throw unusableProtocol(
      `struct ${struct.name} lacks some of the fields ${Object.keys(blocksMembers).join(', ')}`,
    )
  }
  return `${code} ${REFUSE_REST} return { kind: 'blocks', ${members.join(', ')} };`
}

const statusMembers: Readonly<Record<string, string>> = {
  trace_begin_block: 'traceBegin',
  trace_end_block: 'traceEnd',
  chain_state_begin_block: 'stateBegin',
  chain_state_end_block: 'stateEnd',
}

function readStatus(emitter: CodeEmitter, struct: StructNode): string {
  const members: string[] = []
  let code = 'let m_chainId = null;'
  for (const field of struct.fields) {
    const member = Object.hasOwn(statusMembers, field.name) ? statusMembers[field.name] : undefined
    if (member !== undefined) {
      requireBuiltin(struct, field.name, 'uint32')
      code += `if (e - p < 4) tooShort(p); const m_${member} = v.getUint32(p, true); p += 4;`
      members.push(`${member}: m_${member}`)
    } else if (field.name === 'head' || field.name === 'last_irreversible') {
      const target = field.name === 'head' ? 'head' : 'lastIrreversible'
      code += readPosition(emitter, field, `m_${target}`)
      members.push(`${target}: m_${target}`)
    } else if (field.name === 'chain_id') {
      requireBuiltin(struct, 'chain_id', 'checksum256')
      const read = `if (e - p < 32) tooShort(p); m_chainId = hexAt(p, 32); p += 32;`
      code += field.extension ? `if (p < e) { ${read} }` : read
    } else code += emitter.skipFields([field])
  }
  if (members.length !== 6)
    throw unusableProtocol(`struct ${struct.name} lacks a field with a range of blocks or a block position`)
  return `${code} ${REFUSE_REST} return { kind: 'status', ${members.join(', ')}, chainId: m_chainId };`
}

function readPosition(emitter: CodeEmitter, field: FieldNode, target: string): string {
  const optional = field.type.kind === 'optional'
  const node = field.type.kind === 'optional' ? field.type.inner : field.type
  if (node.kind !== 'struct' || emitter.measures.of(node).fixedSize !== 36) {
    throw unusableProtocol(`the field ${field.name} is not a block position`)
  }
  requireBuiltin(node, 'block_num', 'uint32')
  requireBuiltin(node, 'block_id', 'checksum256')
  const [num, id] = node.fields[0]!.name === 'block_num' ? [0, 4] : [32, 0]
  const read = `if (e - p < 36) tooShort(p);
    ${target} = { num: v.getUint32(p + ${num}, true), id: b.subarray(p + ${id}, p + ${id + 32}) }; p += 36;`
  const whole = optional ? `if (p >= e) tooShort(p); if (b[p++] !== 0) { ${read} }` : read
  return `let ${target} = null; ${whole}`
}

// A payload is bytes or optional bytes, where empty bytes mean none. One node generation sends the block without a
// length. The end of such a block is found by walking the fields of the block.
function readPayload(emitter: CodeEmitter, field: FieldNode, target: string): string {
  const optional = field.type.kind === 'optional'
  const node = field.type.kind === 'optional' ? field.type.inner : field.type
  const isBytes = node.kind === 'builtin' && node.name === 'bytes'
  const bounds = isBytes
    ? `let start = 0, end = 0; ${assignBytes('start', 'end')}`
    : `const start = p; ${emitter.skip(node)} const end = p;`
  const read = `${bounds} if (end > start) ${target} = b.subarray(start, end);`
  const whole = optional ? `if (p >= e) tooShort(p); if (b[p++] !== 0) { ${read} }` : `{ ${read} }`
  return `let ${target} = null; ${whole}`
}
