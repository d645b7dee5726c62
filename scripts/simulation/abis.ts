import { packAbi, parsePackedAbi } from '../../services/core/antelope/abi/index.ts'
import type { AbiDefinition } from '../../services/core/antelope/abi/index.ts'

/** Number of structs that an enormous ABI has in addition to the structs of the original ABI. */
const MANY_STRUCTS = 4_000

/**
 * Broken ABIs that an account may set, derived from its real ABI. `variant` makes two ABIs of the same kind
 * differ. The first four kinds cannot be parsed, so the previous ABI stays in force. The other kinds can be
 * parsed, and keep the contract's own types usable.
 */
export const brokenAbis = {
  garbage: (_: Buffer, variant: number) => Buffer.from(`no ABI at all ${variant}`),
  truncated: (abi: Buffer, variant: number) => abi.subarray(0, Math.floor(abi.length / 2) + variant),
  removed: () => Buffer.alloc(0),
  contradictory: (abi: Buffer) =>
    change(abi, ({ structs }) => ({ structs: [...structs, structs[0]!, structs[0]!] })),
  recursive: (abi: Buffer, variant: number) =>
    change(abi, ({ structs, types, actions }) => ({
      structs: [
        ...structs,
        { name: 'zzself', base: '', fields: [{ name: 'a', type: 'zzself[]' }] },
        { name: 'zzbase', base: 'zzbase', fields: [{ name: `a${variant}`, type: 'uint8' }] },
      ],
      types: [
        ...types,
        { new_type_name: 'zzx', type: 'zzy' },
        { new_type_name: 'zzy', type: 'zzx' },
        { new_type_name: 'zztower', type: `uint8${'[]'.repeat(2_000)}` },
      ],
      actions: [...actions, { name: 'zz', type: 'zzbase', ricardian_contract: '' }],
    })),
  enormous: (abi: Buffer, variant: number) =>
    change(abi, ({ structs }) => ({
      structs: [
        ...structs,
        ...Array.from({ length: MANY_STRUCTS }, (_, i) => ({
          name: `zz${variant}x${i}`,
          base: '',
          fields: [{ name: 'a', type: `zz${variant}x${(i + 1) % MANY_STRUCTS}` }],
        })),
      ],
    })),
} satisfies Record<string, (abi: Buffer, variant: number) => Uint8Array>

/** Kind of a broken ABI. */
export type BrokenAbi = keyof typeof brokenAbis

function change(abi: Buffer, part: (definition: AbiDefinition) => Partial<AbiDefinition>): Uint8Array {
  const definition = parsePackedAbi(abi)
  return packAbi({ ...definition, ...part(definition) })
}
