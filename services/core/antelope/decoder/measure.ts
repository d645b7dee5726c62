import { builtinSizes } from '../types/index.ts'
import type { ArrayNode, StructNode, TypeNode } from '../types/index.ts'

/** Sizes and costs of a type that are known without data. */
export interface Measure {
  /** Size in bytes if all values have the same size; `null` if the size depends on the data. */
  readonly fixedSize: number | null
  /** Minimum size of a value in bytes; 0 if a value may be empty. */
  readonly minSize: number
  /**
   * Number of values that the decoder visits to read one value of the type. Elements of arrays whose length is in the
   * data do not count. The number bounds the cost of hostile ABIs.
   */
  readonly work: number
}

const SATURATION = 1e9
// Minimum packed sizes of the built-in types without fixed size.
const minimumOf = {
  varint32: 1,
  varuint32: 1,
  bytes: 1,
  string: 1,
  bitset: 1,
  public_key: 34,
  signature: 66,
} as const

/** Computes and caches the sizes and costs of ABI types. All types inside a measured type must be resolved. */
export class Measures {
  readonly #known = new Map<TypeNode, Measure>()

  of(node: TypeNode): Measure {
    let measure = this.#known.get(node)
    if (measure === undefined) {
      measure = this.#measure(node)
      this.#known.set(node, measure)
    }
    return measure
  }

  // A recursive type adds no work to the type that contains it, because `descend` charges each visit at run time. Every
  // cycle contains a recursive type, so measuring terminates.
  #within(node: TypeNode): Measure {
    const recursive = 'recursive' in node && node.recursive
    return recursive ? { fixedSize: null, minSize: 0, work: 0 } : this.of(node)
  }

  #measure(node: TypeNode): Measure {
    switch (node.kind) {
      case 'builtin': {
        const fixedSize = builtinSizes[node.name]
        return { fixedSize, minSize: fixedSize ?? minimumOf[node.name as keyof typeof minimumOf], work: 1 }
      }
      case 'struct':
        return this.#sum(node.fields)
      case 'optional':
        return { fixedSize: null, minSize: 1, work: 1 + this.#within(node.inner).work }
      case 'variant': {
        const parts = node.alternatives.map((alternative) => this.#within(alternative.type))
        const least = parts.reduce((size, part) => Math.min(size, part.minSize), SATURATION)
        const most = parts.reduce((work, part) => Math.max(work, part.work), 0)
        return { fixedSize: null, minSize: 1 + (parts.length === 0 ? 0 : least), work: 1 + most }
      }
      case 'array':
        return this.#list(node)
    }
  }

  #list(node: ArrayNode): Measure {
    if (node.length === null) return { fixedSize: null, minSize: 1, work: 1 }
    const element = this.#within(node.element)
    return {
      fixedSize: element.fixedSize === null ? null : element.fixedSize * node.length,
      minSize: Math.min(SATURATION, element.minSize * node.length),
      work: Math.min(SATURATION, 1 + element.work * node.length),
    }
  }

  #sum(fields: StructNode['fields']): Measure {
    let fixedSize: number | null = 0
    let minSize = 0
    let work = 1
    for (const field of fields) {
      const part = this.#within(field.type)
      const known: boolean = !field.extension && fixedSize !== null && part.fixedSize !== null
      fixedSize = known ? fixedSize! + part.fixedSize! : null
      if (!field.extension) minSize = Math.min(SATURATION, minSize + part.minSize)
      work = Math.min(SATURATION, work + part.work)
    }
    return { fixedSize, minSize, work }
  }
}
