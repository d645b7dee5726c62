import { Measures } from './measure.ts'
import { fixedExpression, need, plus, readVariable, skipVariable } from './builtin-code.ts'
import type { ArrayNode, BuiltinNode, StructNode, TypeNode, VariantNode } from '../types/index.ts'

// Variables of generated code: `p` is the read position, `b` are the bytes, `v` is a DataView of the bytes, `e` is the
// end offset. Before a call, generated code copies `p` to `R.at`; after the call it copies `R.at` to `p`.

/** First statement of every generated function. */
export const PROLOGUE = 'const b = R.bytes, v = R.view, e = R.end; let p = R.at;'

const INLINE_WORK = 48

/**
 * Generates JavaScript that reads or skips values of ABI types. {@link functions} collects one function per nested
 * type. ABI text enters the code through `JSON.stringify` only, so an ABI cannot inject code.
 */
export class CodeEmitter {
  readonly functions: string[] = []
  readonly measures: Measures
  readonly #names = new Map<TypeNode, string>()
  readonly #skipNames = new Map<TypeNode, string>()
  #unique = 0

  constructor(measures = new Measures()) {
    this.measures = measures
  }

  /** Returns a variable name that the generated code does not use yet. */
  fresh(prefix: string): string {
    return `${prefix}${this.#unique++}`
  }

  /** Generates statements that read one value into a constant; returns them with the constant's name. */
  read(node: TypeNode): { code: string; value: string } {
    const value = this.fresh('x')
    const { fixedSize } = this.measures.of(node)
    if (fixedSize !== null && this.#fitsInline(node)) {
      return {
        code: `${need(fixedSize)} const ${value} = ${this.fixed(node, 'p')}; p += ${fixedSize};`,
        value,
      }
    }
    if (node.kind === 'builtin') return { code: readVariable(node.name, value), value }
    if (node.kind === 'optional') {
      const inner = this.read(node.inner)
      const body = `if (p >= e) tooShort(p); if (b[p++] !== 0) { ${inner.code} ${value} = ${inner.value}; }`
      return { code: `let ${value} = null; ${body}`, value }
    }
    return { code: `R.at = p; const ${value} = ${this.reader(node)}(); p = R.at;`, value }
  }

  /** Generates an expression for a fixed-size value at an offset; the caller has checked that the bytes exist. */
  fixed(node: TypeNode, offset: string): string {
    if (node.kind === 'builtin') return fixedExpression(node.name, offset)
    if (node.kind === 'array') return this.#fixedList(node, offset)
    let position = 0
    const members: string[] = []
    for (const field of (node as StructNode).fields) {
      members.push(`${propertyKey(field.name)}: ${this.fixed(field.type, plus(offset, position))}`)
      position += this.measures.of(field.type).fixedSize!
    }
    return `{ ${members.join(', ')} }`
  }

  /** Whether a fixed-size type is small enough to inline with {@link fixed}. */
  #fitsInline(node: TypeNode): boolean {
    return this.measures.of(node).work <= INLINE_WORK
  }

  #fixedList(node: ArrayNode, offset: string): string {
    const size = this.measures.of(node.element).fixedSize!
    if (isByte(node.element)) return `b.subarray(${offset}, ${plus(offset, node.length!)})`
    const items = Array.from({ length: node.length! }, (_, i) =>
      this.fixed(node.element, plus(offset, i * size)),
    )
    return `[${items.join(', ')}]`
  }

  /** Name of the generated function that reads a struct, variant or array and advances the position. */
  reader(node: TypeNode): string {
    const known = this.#names.get(node)
    if (known !== undefined) return known
    const name = this.fresh('read')
    this.#names.set(node, name)
    const body =
      node.kind === 'struct'
        ? this.structBody(node)
        : node.kind === 'variant'
          ? this.#variantBody(node)
          : this.#arrayBody(node)
    this.functions.push(`function ${name}() { ${this.#entered(node, body)} }`)
    return name
  }

  #entered(node: TypeNode, body: string): string {
    const recursive = 'recursive' in node && node.recursive
    if (!recursive) return `${PROLOGUE} ${body} R.at = p; return result;`
    const { work } = this.measures.of(node)
    return `descend(${work}); ${PROLOGUE} ${body} R.at = p; R.depth--; return result;`
  }

  /**
   * Generates statements that read a struct into `result`. With `only`, other fields are skipped and reading stops
   * after the last wanted field, or with `toEnd` after the last field.
   */
  structBody(node: StructNode, only: ReadonlySet<string> | null = null, toEnd = false): string {
    const wanted = (name: string): boolean => only === null || only.has(name)
    const last =
      only === null || toEnd
        ? node.fields.length
        : node.fields.findLastIndex((field) => wanted(field.name)) + 1
    const fields = node.fields.slice(0, last)
    const [plain, later] = untilExtension(fields)
    const members = new Map<string, string>()
    let code = ''
    for (let i = 0; i < plain.length;) {
      const run = this.#fixedRun(plain, i)
      if (run.length === 0) {
        const field = plain[i++]!
        if (!wanted(field.name)) {
          code += this.skip(field.type)
          continue
        }
        const part = this.read(field.type)
        code += part.code
        members.set(field.name, part.value)
        continue
      }
      let position = 0
      let reads = ''
      for (const field of run) {
        if (wanted(field.name)) {
          const value = this.fresh('x')
          reads += `const ${value} = ${this.fixed(field.type, plus('p', position))}; `
          members.set(field.name, value)
        }
        position += this.measures.of(field.type).fixedSize!
      }
      code += `${need(position)} ${reads} p += ${position}; `
      i += run.length
    }
    const literal = [...members].map(([name, value]) => `${propertyKey(name)}: ${value}`).join(', ')
    code += `const result = { ${literal} };`
    for (const field of later) {
      const one = this.#member(field, wanted(field.name))
      code += field.extension ? `if (p < e) { ${one} }` : one
    }
    return code
  }

  /** Generates the statements that read a field and define it on the variable `result`, or that skip the field. */
  #member(field: StructNode['fields'][number], wanted: boolean): string {
    if (!wanted) return this.skip(field.type)
    const part = this.read(field.type)
    return `${part.code} define(result, ${JSON.stringify(field.name)}, ${part.value});`
  }

  #fixedRun(fields: StructNode['fields'], from: number): StructNode['fields'] {
    let end = from
    while (end < fields.length) {
      const { type } = fields[end]!
      if (this.measures.of(type).fixedSize === null || !this.#fitsInline(type)) break
      end++
    }
    return fields.slice(from, end)
  }

  #variantBody(node: VariantNode): string {
    const cases = node.alternatives.map((alternative, index) => {
      const part = this.read(alternative.type)
      const pair = `result = [${JSON.stringify(alternative.name)}, ${part.value}];`
      return `case ${index}: { ${part.code} ${pair} break; }`
    })
    return `let result; ${READ_INDEX} switch (k) { ${cases.join(' ')} default: ${unknownIndex(node)} }`
  }

  #arrayBody(node: TypeNode): string {
    const { element, length } = node as ArrayNode
    const { minSize, work, fixedSize } = this.measures.of(element)
    if (isByte(element)) {
      if (length === null) return 'R.at = p; const result = readBytes(); p = R.at;'
      return `${need(length)} const result = b.subarray(p, p + ${length}); p += ${length};`
    }
    const recursive = 'recursive' in element && element.recursive
    const counted = `R.at = p; const n = readCount(${minSize}, ${recursive ? 1 : work}); p = R.at;`
    const head = `${length === null ? counted : `const n = ${length};`} const result = [];`
    if (fixedSize !== null && fixedSize > 0 && this.#fitsInline(element)) {
      const bound = `if (n * ${fixedSize} > e - p) tooShort(p);`
      return `${head} ${bound} for (let i = 0; i < n; i++, p += ${fixedSize}) result.push(${this.fixed(element, 'p')});`
    }
    const part = this.read(element)
    return `${head} for (let i = 0; i < n; i++) { ${part.code} result.push(${part.value}); }`
  }

  /** Generates statements that skip one value. */
  skip(node: TypeNode): string {
    const { fixedSize, work } = this.measures.of(node)
    if (fixedSize !== null) return fixedSize === 0 ? '' : `${need(fixedSize)} p += ${fixedSize};`
    if (node.kind === 'builtin') return skipVariable(node.name)
    if (node.kind === 'optional')
      return `if (p >= e) tooShort(p); if (b[p++] !== 0) { ${this.skip(node.inner)} }`
    if (node.kind === 'struct' && !node.recursive && work <= INLINE_WORK) return this.skipFields(node.fields)
    if (node.kind === 'array' && node.length === null) {
      const size = this.measures.of(node.element).fixedSize
      if (size !== null && size > 0) return this.#skipFixedElements(size)
    }
    return `R.at = p; ${this.skipper(node)}(); p = R.at;`
  }

  #skipFixedElements(size: number): string {
    const n = this.fresh('n')
    const long = `R.at = p; ${n} = readCount(${size}, 0); p = R.at;`
    const counted = `if (p >= e) tooShort(p); let ${n} = b[p]; if (${n} < 128) p++; else { ${long} }`
    return `${counted} if (${n} * ${size} > e - p) tooShort(p); p += ${n} * ${size};`
  }

  /** Generates statements that skip fields; adjacent fixed-size fields become one step. */
  skipFields(fields: StructNode['fields']): string {
    let code = ''
    let run = 0
    const flush = (): void => {
      if (run > 0) code += `${need(run)} p += ${run};`
      run = 0
    }
    for (const field of fields) {
      const { fixedSize } = this.measures.of(field.type)
      if (fixedSize !== null && !field.extension) run += fixedSize
      else {
        flush()
        code += field.extension ? `if (p < e) { ${this.skip(field.type)} }` : this.skip(field.type)
      }
    }
    flush()
    return code
  }

  /** Name of the generated function that skips a struct, variant or array. */
  skipper(node: TypeNode): string {
    const known = this.#skipNames.get(node)
    if (known !== undefined) return known
    const name = this.fresh('skip')
    this.#skipNames.set(node, name)
    const body = `${this.#skipBody(node)} const result = undefined;`
    this.functions.push(`function ${name}() { ${this.#entered(node, body)} }`)
    return name
  }

  #skipBody(node: TypeNode): string {
    if (node.kind === 'struct') return this.skipFields(node.fields)
    if (node.kind === 'variant') {
      const cases = node.alternatives.map(({ type }, index) => `case ${index}: { ${this.skip(type)} break; }`)
      return `${READ_INDEX} switch (k) { ${cases.join(' ')} default: ${unknownIndex(node)} }`
    }
    const { element, length } = node as ArrayNode
    const { minSize, work, fixedSize } = this.measures.of(element)
    const recursive = 'recursive' in element && element.recursive
    const head =
      length === null
        ? `R.at = p; const n = readCount(${minSize}, ${recursive ? 1 : work}); p = R.at;`
        : `const n = ${length};`
    if (fixedSize !== null) return `${head} if (n * ${fixedSize} > e - p) tooShort(p); p += n * ${fixedSize};`
    return `${head} for (let i = 0; i < n; i++) { ${this.skip(element)} }`
  }
}

/** Generated statements that read a varuint32 into `k`, with the one-byte case inlined. */
const READ_INDEX =
  'if (p >= e) tooShort(p); let k = b[p]; if (k < 128) p++; else { R.at = p; k = readVaruint32(); p = R.at; }'

function unknownIndex(node: VariantNode): string {
  const name = node.name.length > 48 ? `${node.name.slice(0, 48)}…` : node.name
  return `refuse(${JSON.stringify(`variant ${name} has no alternative `)} + k, p - 1)`
}

// In an object literal `__proto__: x` would set the prototype; the computed key defines an own property.
function propertyKey(name: string): string {
  return name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)
}

/**
 * Splits the fields of a struct at the first extension field. Data may end before an extension field, which
 * is then absent.
 */
function untilExtension(fields: StructNode['fields']): [StructNode['fields'], StructNode['fields']] {
  const first = fields.findIndex(({ extension }) => extension)
  return first === -1 ? [fields, []] : [fields.slice(0, first), fields.slice(first)]
}

function isByte(node: TypeNode): node is BuiltinNode {
  return node.kind === 'builtin' && node.name === 'uint8'
}
