import type { AbiDefinition } from '../../core/antelope/abi/index.ts'

/** Largest integer that a node prints as a JSON number; larger integers are strings. */
const MAX_NUMBER = 0xffff_ffffn

/**
 * Converts decoded ABI values to JSON as a node's chain API prints it: integers above 32 bits as strings, `bool` as 0
 * or 1, floating point as text with 17 decimals, bytes as hexadecimal text.
 */
export class NodeJson {
  readonly #aliases: ReadonlyMap<string, string>
  readonly #structs: ReadonlyMap<string, AbiDefinition['structs'][number]>

  constructor(abi: AbiDefinition) {
    this.#aliases = new Map(abi.types.map((type) => [type.new_type_name, type.type]))
    this.#structs = new Map(abi.structs.map((struct) => [struct.name, struct]))
  }

  /** JSON form of a value that was decoded as `type`. */
  print(type: string, value: unknown): unknown {
    if (value === null || value === undefined) return null
    if (type.endsWith('$') || type.endsWith('?')) return this.print(type.slice(0, -1), value)
    const element = /^(.*)\[\d*\]$/.exec(type)?.[1]
    if (element !== undefined)
      return Array.from(value as ArrayLike<unknown>, (each) => this.print(element, each))
    const alias = this.#aliases.get(type)
    if (alias !== undefined) return this.print(alias, value)
    const struct = this.#structs.get(type)
    if (struct !== undefined) return this.#printStruct(struct, value as Record<string, unknown>)
    return printScalar(type, value, (variant, inner) => this.print(variant, inner))
  }

  #printStruct(
    struct: AbiDefinition['structs'][number],
    value: Record<string, unknown>,
  ): Record<string, unknown> {
    const base = this.#structs.get(struct.base)
    const printed = base === undefined ? {} : this.#printStruct(base, value)
    for (const field of struct.fields) {
      if (field.name in value) printed[field.name] = this.print(field.type, value[field.name])
    }
    return printed
  }
}

function printScalar(
  type: string,
  value: unknown,
  printVariant: (type: string, value: unknown) => unknown,
): unknown {
  if (typeof value === 'bigint')
    return value > MAX_NUMBER || value < -MAX_NUMBER ? String(value) : Number(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  if (type === 'float32' || type === 'float64') return printFloat(value as number)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (!Array.isArray(value)) return value
  // The value of an ABI variant is decoded as [type, value].
  return [value[0], printVariant(String(value[0]), value[1])]
}

function printFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  return Number.isFinite(value) ? value.toFixed(17) : value > 0 ? 'inf' : '-inf'
}
