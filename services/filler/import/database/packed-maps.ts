import { compileAbi } from '../../../core/antelope/decoder/index.ts'
import { parsePackedAbi } from '../../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../../core/antelope/decoder/index.ts'

/** An ABI of the assets contract and the block since which the ABI applies. */
interface AbiSince {
  readonly block: number
  readonly abi: CompiledAbi
}

type Pair = Readonly<Record<string, unknown>>

/**
 * Packs the attribute maps of logged actions into bytes. The column `packed` of the logs contains packed maps, but the
 * source database stores decoded maps.
 */
export class MapPacker {
  readonly #versions: AbiSince[] = []

  /** @param abis packed ABIs of the assets contract, ascending by block. */
  constructor(abis: readonly { readonly block: number; readonly packed: Uint8Array }[]) {
    for (const { block, packed } of abis) {
      try {
        this.#versions.push({ block, abi: compileAbi(parsePackedAbi(packed)) })
      } catch {
        // An ABI that does not parse defines no action.
      }
    }
  }

  /**
   * Packs the attribute maps of one action and joins their bytes. Returns null if no ABI is known or a value does not
   * fit the type of its field.
   */
  pack(block: number, action: string, fields: Readonly<Record<string, unknown>>): Uint8Array | null {
    const version = this.#versions.findLast((known) => known.block <= block) ?? this.#versions[0]
    if (version === undefined) return null
    const { abi } = version
    const type = abi.actionType(action)
    const struct = abi.definition.structs.find(({ name }) => name === type)
    if (struct === undefined) return null
    try {
      const parts = struct.fields
        .filter(({ name }) => Object.hasOwn(fields, name))
        .map(({ name, type: fieldType }) => abi.encoder(fieldType)(spell(abi, fieldType, fields[name])))
      return parts.length === Object.keys(fields).length ? Buffer.concat(parts) : null
    } catch {
      return null
    }
  }
}

/**
 * Renames the two members of each attribute pair to the names that the ABI uses: `key` and `value`, or `first` and
 * `second`, depending on the compiler of the contract. Replaces null floats by NaN: JSON has neither NaN nor infinity,
 * so the source stores null.
 */
function spell(abi: CompiledAbi, type: string, pairs: unknown): unknown {
  if (!Array.isArray(pairs)) return pairs
  const aliased = abi.definition.types.find(({ new_type_name: name }) => name === type)?.type ?? type
  const pairType = aliased.replace(/\[\]$/, '')
  const names = abi.definition.structs.find(({ name }) => name === pairType)?.fields.map(({ name }) => name)
  const [key, value] = names?.length === 2 ? names : ['key', 'value']
  return (pairs as Pair[]).map((pair) => {
    const [variant, content] = (pair.value ?? pair.second) as [string, unknown]
    const isFloat = /^(float|double|FLOAT_VEC|DOUBLE_VEC)/i.test(variant)
    return { [key!]: pair.key ?? pair.first, [value!]: [variant, isFloat ? withNaN(content) : content] }
  })
}

function withNaN(content: unknown): unknown {
  if (Array.isArray(content)) return content.map((item: unknown) => item ?? NaN)
  return content ?? NaN
}
