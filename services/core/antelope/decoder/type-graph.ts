import { AbiError } from '../../bytes/index.ts'
import type { AbiDefinition, AbiStruct } from '../abi/index.ts'
import { childrenOf, isBuiltin } from '../types/index.ts'
import type { ArrayNode, OptionalNode, StructNode, TypeNode, VariantNode } from '../types/index.ts'

// Maximum nesting of types. Nodes refuse ABIs nested deeper than 32, so only a hostile ABI exceeds this
// limit.
const MAX_STATIC_DEPTH = 64
export const MAX_FIELDS = 200_000
const MAX_FIXED_LENGTH = 65_536

/** `extended_symbol` (`sym` and `contract`): nodes know the type although no ABI defines it. */
const extendedSymbol: StructNode = {
  kind: 'struct',
  name: 'extended_symbol',
  fields: [
    { name: 'sym', type: { kind: 'builtin', name: 'symbol' }, extension: false },
    { name: 'contract', type: { kind: 'builtin', name: 'name' }, extension: false },
  ],
  recursive: false,
}

/**
 * Resolves the types of one ABI on demand: an undefined type only breaks the types that need it. Names are looked up
 * in maps, so `__proto__` is a name like any other.
 */
export class TypeGraph {
  readonly #aliases = new Map<string, string>()
  readonly #structs = new Map<string, AbiStruct>()
  readonly #variants = new Map<string, readonly string[]>()
  /** Names that the ABI defines more than once. Types that use such a name cannot be resolved. */
  readonly #ambiguous = new Set<string>()
  readonly #nodes = new Map<string, TypeNode>()
  readonly #depths = new Map<TypeNode, number>()
  readonly #inProgress = new Set<TypeNode>()
  readonly #openAliases = new Set<string>()
  #circleEntries: TypeNode[] = []
  #added: string[] = []
  #fieldCount = 0

  constructor(abi: AbiDefinition) {
    const definitions = new Map<string, string>()
    const claim = (name: string, definition: unknown): void => {
      const text = JSON.stringify(definition)
      const earlier = definitions.get(name)
      if (earlier === undefined) definitions.set(name, text)
      else if (earlier !== text) this.#ambiguous.add(name)
    }
    for (const alias of abi.types) {
      claim(alias.new_type_name, alias.type)
      this.#aliases.set(alias.new_type_name, alias.type)
    }
    for (const struct of abi.structs) {
      claim(struct.name, [struct.base, struct.fields])
      this.#structs.set(struct.name, struct)
    }
    for (const variant of abi.variants) {
      claim(variant.name, [variant.types])
      this.#variants.set(variant.name, variant.types)
    }
  }

  /**
   * Resolves a type expression such as `asset[]`.
   * @throws AbiError if the ABI does not define the type.
   */
  resolve(type: string): TypeNode {
    this.#added = []
    this.#circleEntries = []
    try {
      const node = this.#resolve(type, 0)
      for (const entry of this.#circleEntries) markRecursive(entry)
      return node
    } catch (error) {
      // Forget all types that this call resolved, because a resolved type may refer to an unfinished struct.
      for (const name of this.#added) this.#nodes.delete(name)
      throw error
    } finally {
      this.#inProgress.clear()
      this.#openAliases.clear()
    }
  }

  /** Whether a type expression such as `asset[]` can be resolved. */
  has(type: string): boolean {
    try {
      this.resolve(type)
      return true
    } catch (error) {
      if (error instanceof AbiError) return false
      throw error
    }
  }

  #resolve(type: string, level: number): TypeNode {
    const known = this.#nodes.get(type)
    if (known !== undefined) {
      if (this.#inProgress.has(known)) this.#circleEntries.push(known)
      return known
    }
    if (level > MAX_STATIC_DEPTH) throw new AbiError(`type ${show(type)} is nested too deeply`)
    const node = this.#build(type, level)
    this.#inProgress.delete(node)
    this.#store(type, node)
    return node
  }

  #store(type: string, node: TypeNode): void {
    this.#nodes.set(type, node)
    this.#added.push(type)
    const deepest = childrenOf(node).reduce(
      (depth, child) => Math.max(depth, this.#depths.get(child) ?? 0),
      0,
    )
    if (deepest >= MAX_STATIC_DEPTH) throw new AbiError(`type ${show(type)} is nested too deeply`)
    this.#depths.set(node, deepest + 1)
  }

  #build(type: string, level: number): TypeNode {
    // Nodes look up built-in types first, so a redefinition in the ABI has no effect.
    if (isBuiltin(type)) return { kind: 'builtin', name: type }
    if (isBuiltin(fundamentalOf(type))) return this.#buildAround(type, level)
    if (this.#ambiguous.has(type)) throw new AbiError(`the ABI defines ${show(type)} twice`)
    const alias = this.#aliases.get(type)
    if (alias !== undefined) return this.#followAlias(type, alias, level)
    const struct = this.#structs.get(type)
    if (struct !== undefined) return this.#buildStruct(struct, level)
    const variant = this.#variants.get(type)
    if (variant !== undefined) return this.#buildVariant(type, variant, level)
    if (type === 'extended_symbol') return extendedSymbol
    return this.#buildAround(type, level)
  }

  /** Builds the type of an optional or an array from the type inside. */
  #buildAround(type: string, level: number): TypeNode {
    if (type.endsWith('?')) {
      const node: OptionalNode = { kind: 'optional', inner: pending }
      this.#open(type, node)
      node.inner = this.#resolve(type.slice(0, -1), level + 1)
      return node
    }
    const array = /^(.+)\[(\d{0,9})\]$/s.exec(type)
    if (array === null) throw new AbiError(`type ${show(type)} is not defined`)
    const length = array[2] === '' ? null : Number(array[2])
    if (length !== null && length > MAX_FIXED_LENGTH) throw new AbiError(`type ${show(type)} is too long`)
    const node: ArrayNode = { kind: 'array', element: pending, length }
    this.#open(type, node)
    node.element = this.#resolve(array[1]!, level + 1)
    return node
  }

  #followAlias(type: string, target: string, level: number): TypeNode {
    if (this.#openAliases.has(type)) throw new AbiError(`type ${show(type)} is an alias of itself`)
    this.#openAliases.add(type)
    const node = this.#resolve(target, level + 1)
    this.#openAliases.delete(type)
    return node
  }

  #buildStruct(struct: AbiStruct, level: number): StructNode {
    const node: StructNode = { kind: 'struct', name: struct.name, fields: [], recursive: false }
    this.#open(struct.name, node)
    for (const field of this.#fieldsWithBases(struct)) {
      const extension = field.type.endsWith('$')
      const type = this.#resolve(extension ? field.type.slice(0, -1) : field.type, level + 1)
      node.fields.push({ name: field.name, type, extension })
    }
    return node
  }

  #buildVariant(name: string, types: readonly string[], level: number): VariantNode {
    const node: VariantNode = { kind: 'variant', name, alternatives: [], recursive: false }
    this.#open(name, node)
    for (const type of types) node.alternatives.push({ name: type, type: this.#resolve(type, level + 1) })
    return node
  }

  // Registers a type before its member types are resolved, so that the type may contain itself. A cycle of
  // aliases is an error.
  #open(type: string, node: TypeNode): void {
    this.#nodes.set(type, node)
    this.#added.push(type)
    this.#inProgress.add(node)
  }

  #fieldsWithBases(struct: AbiStruct): AbiStruct['fields'] {
    const chain: AbiStruct[] = [struct]
    for (let current = struct; current.base !== ''; current = chain[0]!) {
      const base = this.#structs.get(this.#withoutAlias(current.base))
      if (base === undefined) throw new AbiError(`base ${show(current.base)} is not a struct`)
      if (this.#ambiguous.has(base.name)) throw new AbiError(`the ABI defines ${show(base.name)} twice`)
      if (chain.includes(base)) throw new AbiError(`struct ${show(base.name)} inherits from itself`)
      if (chain.length > MAX_STATIC_DEPTH) {
        throw new AbiError(`struct ${show(struct.name)} has more than ${MAX_STATIC_DEPTH} bases`)
      }
      chain.unshift(base)
    }
    const fields = chain.flatMap((entry) => entry.fields)
    this.#fieldCount += fields.length
    if (this.#fieldCount > MAX_FIELDS) throw new AbiError(`the ABI has more than ${MAX_FIELDS} fields`)
    return fields
  }

  #withoutAlias(name: string): string {
    let target = name
    for (let hops = 0; hops <= MAX_STATIC_DEPTH; hops++) {
      const next = this.#aliases.get(target)
      if (next === undefined) return target
      target = next
    }
    throw new AbiError(`type ${show(name)} is an alias of itself`)
  }
}

/** The type without its `?` and `[]` suffixes. */
function fundamentalOf(type: string): string {
  let end = type.length
  for (;;) {
    const before = end
    if (type[end - 1] === '?') end--
    else if (type[end - 1] === ']') {
      let at = end - 2
      while (isDigit(type.charCodeAt(at))) at--
      if (type[at] === '[') end = at
    }
    if (end === before) return type.slice(0, end)
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

// Placeholder for the inner type of an optional or array until the inner type is resolved.
const pending: TypeNode = { kind: 'builtin', name: 'bool' }

// Marks the struct or variant on a cycle as recursive. An optional or array has one inner type, so the loop follows the
// inner type until it reaches the struct or variant on the same cycle.
function markRecursive(entry: TypeNode): void {
  let node = entry
  while (node.kind === 'optional' || node.kind === 'array') {
    node = node.kind === 'optional' ? node.inner : node.element
  }
  if (node.kind !== 'builtin') node.recursive = true
}

function show(type: string): string {
  return JSON.stringify(type.length > 96 ? `${type.slice(0, 96)}…` : type)
}
