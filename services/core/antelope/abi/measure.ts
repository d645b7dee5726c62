import { builtinSizes, type TypeNode } from './type-graph.ts'

/** What is known of a type before any byte is seen. */
export interface Measure {
  /** Bytes of every value, or `null` when they depend on the data. */
  readonly fixedSize: number | null
  /** Bytes below which no value can lie; 0 means that a value may take no room at all. */
  readonly minSize: number
  /** Visits that reading one value takes, beyond the elements of counted arrays; bounds hostile ABIs. */
  readonly work: number
}

const saturation = 1e9
// Smallest packed forms of the built-in types without fixed size.
const minimumOf = { varint32: 1, varuint32: 1, bytes: 1, string: 1, public_key: 34, signature: 66 } as const

/** Measures complete nodes and remembers the results. */
export class Measures {
  readonly #known = new Map<TypeNode, Measure>()
  readonly #open = new Set<TypeNode>()

  of(node: TypeNode): Measure {
    const known = this.#known.get(node)
    if (known !== undefined) return known
    if (this.#open.has(node)) return { fixedSize: null, minSize: 0, work: 0 }
    this.#open.add(node)
    const measure = this.#measure(node)
    this.#open.delete(node)
    this.#known.set(node, measure)
    return measure
  }

  // A type that can contain itself is charged each time it is entered, so its container does not pay.
  #workWithin(node: TypeNode): number {
    const { work } = this.of(node)
    return 'recursive' in node && node.recursive ? 0 : work
  }

  #measure(node: TypeNode): Measure {
    if (node.kind === 'builtin') {
      const fixedSize = builtinSizes[node.name]
      return { fixedSize, minSize: fixedSize ?? minimumOf[node.name as keyof typeof minimumOf], work: 1 }
    }
    if (node.kind === 'struct') return this.#sum(node.fields)
    if (node.kind === 'optional')
      return { fixedSize: null, minSize: 1, work: 1 + this.#workWithin(node.inner) }
    if (node.kind === 'variant') {
      const types = node.alternatives.map((alternative) => alternative.type)
      const least = types.reduce((size, type) => Math.min(size, this.of(type).minSize), saturation)
      const most = types.reduce((work, type) => Math.max(work, this.#workWithin(type)), 0)
      return { fixedSize: null, minSize: 1 + (types.length === 0 ? 0 : least), work: 1 + most }
    }
    if (node.length === null) return { fixedSize: null, minSize: 1, work: 1 }
    const element = this.of(node.element)
    return {
      fixedSize: element.fixedSize === null ? null : element.fixedSize * node.length,
      minSize: Math.min(saturation, element.minSize * node.length),
      work: Math.min(saturation, 1 + this.#workWithin(node.element) * node.length),
    }
  }

  #sum(fields: readonly { readonly type: TypeNode; readonly extension: boolean }[]): Measure {
    let fixedSize: number | null = 0
    let minSize = 0
    let work = 1
    for (const field of fields) {
      const measure = this.of(field.type)
      const known: boolean = fixedSize !== null && measure.fixedSize !== null && !field.extension
      fixedSize = known ? fixedSize! + measure.fixedSize! : null
      if (!field.extension) minSize = Math.min(saturation, minSize + measure.minSize)
      work = Math.min(saturation, work + this.#workWithin(field.type))
    }
    return { fixedSize, minSize, work }
  }
}
