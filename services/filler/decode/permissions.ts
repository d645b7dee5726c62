import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { unusableProtocol } from './protocol-shape.ts'
import type { PermissionLinkRow, PermissionRow } from './scanned.ts'

/** Readers for rows of the delta tables `permission` and `permission_link`. */
export interface PermissionReaders {
  permission(row: Uint8Array): PermissionRow
  link(row: Uint8Array): PermissionLinkRow
}

/** Fields that have the same names in all node generations. */
interface PermissionFields {
  readonly owner: string
  readonly name: string
  readonly auth: { readonly keys: readonly { readonly key: string }[] }
}
interface LinkFields {
  readonly account: string
  readonly code: string
  readonly message_type: string
  readonly required_permission: string
}

/**
 * Creates the functions that decode permission rows by a node's protocol ABI. A missing field throws at the first row
 * rather than here, because only the handler `state` needs permissions.
 */
export function createPermissionReaders(abi: CompiledAbi): PermissionReaders {
  const read = <Fields>(type: string, row: Uint8Array, names: readonly (keyof Fields & string)[]): Fields => {
    if (!abi.types.has(type)) throw unusableProtocol(`there is no type ${type}`)
    const [, fields] = abi.decoder<[string, Fields & object]>(type)(row)
    const missing = names.filter((name) => !Object.hasOwn(fields, name))
    if (missing.length > 0) throw unusableProtocol(`type ${type} lacks the fields ${missing.join(', ')}`)
    return fields
  }
  return {
    permission: (row) => {
      const fields = read<PermissionFields>('permission', row, ['owner', 'name', 'auth'])
      const keys = fields.auth.keys.map(({ key }) => key)
      return { account: fields.owner, permission: fields.name, keys }
    },
    link: (row) => {
      const names = ['account', 'code', 'message_type', 'required_permission'] as const
      const fields = read<LinkFields>('permission_link', row, names)
      return {
        account: fields.account,
        contract: fields.code,
        action: fields.message_type,
        permission: fields.required_permission,
      }
    },
  }
}
