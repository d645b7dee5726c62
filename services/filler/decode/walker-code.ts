import type { CodeEmitter } from '../../core/antelope/decoder/index.ts'
import type { FieldNode, StructNode, TypeNode } from '../../core/antelope/types/index.ts'
import { structsOf } from './protocol-shape.ts'

/** Returns generated statements that read a field instead of skipping it. */
export type FieldCode = (field: FieldNode) => string

/**
 * Returns generated statements that walk a struct: fields in `take` get their own code, adjacent other fields are
 * skipped in one step.
 */
export function walkFields(
  emitter: CodeEmitter,
  struct: StructNode,
  take: Readonly<Record<string, FieldCode>>,
): string {
  let code = ''
  let skipped: FieldNode[] = []
  for (const field of struct.fields) {
    const wanted = Object.hasOwn(take, field.name) ? take[field.name] : undefined
    if (wanted === undefined) {
      skipped.push(field)
      continue
    }
    code += emitter.skipFields(skipped) + wanted(field)
    skipped = []
  }
  return code + emitter.skipFields(skipped)
}

/** Returns generated statements that walk the struct, or variant of structs, at the current position. */
export function walkStructs(
  emitter: CodeEmitter,
  node: TypeNode,
  what: string,
  walk: (struct: StructNode) => string,
): string {
  const structs = structsOf(node, what)
  if (structs[0]?.index === null) return walk(structs[0].struct)
  const index = emitter.fresh('k')
  const cases = structs.map(({ struct }, i) => `case ${i}: { ${walk(struct)} break; }`)
  const unknown = `default: refuse(${JSON.stringify(`${what} has no alternative `)} + ${index}, p - 1);`
  return `${readSmall(index)} switch (${index}) { ${cases.join(' ')} ${unknown} }`
}

/** Returns generated statements that declare `target` and read a varuint32 into it. */
export function readSmall(target: string): string {
  return (
    `if (p >= e) tooShort(p); let ${target} = b[p]; ` +
    `if (${target} < 128) p++; else { R.at = p; ${target} = readVaruint32(); p = R.at; }`
  )
}

/** Returns generated statements that read a varuint32 into an existing variable. */
export function assignSmall(target: string): string {
  return (
    `if (p >= e) tooShort(p); ${target} = b[p]; ` +
    `if (${target} < 128) p++; else { R.at = p; ${target} = readVaruint32(); p = R.at; }`
  )
}

/**
 * Returns generated statements that read the two halves of an 8-byte number into variables, and advance the read
 * position.
 */
export function assignWord(lo: string, hi: string): string {
  return `if (e - p < 8) tooShort(p); ${lo} = v.getUint32(p, true); ${hi} = v.getUint32(p + 4, true); p += 8;`
}

/**
 * Returns generated statements that store begin and end of length-prefixed bytes in variables, and advance the read
 * position.
 */
export function assignBytes(start: string, end: string): string {
  return `R.at = p; ${end} = readLength(); ${start} = R.at; ${end} += ${start}; p = ${end};`
}

/** Generated statement that refuses bytes that are left over at the end of a walk. */
export const REFUSE_REST = "if (p !== e) refuse('bytes are left over', p);"
