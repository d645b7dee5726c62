import { ByteReader, ByteWriter } from '../bytes/index.ts'
import type { ActionContext } from './context.ts'
import { nameValue } from './names.ts'
import type { ActionInput } from './action.ts'
import type { ActionHandler } from './runtime.ts'

/** Account of the system contract. */
export const systemAccount = 'eosio'

/** RAM that a node bills for an account with two permissions of one key each, in bytes. */
const newAccountBytes = 2724n

/**
 * Public key of every generated account: 33 bytes after the type byte. It is the well-known development key
 * of this kind of chain, and the recorded accounts use it too.
 */
const developmentKey = Buffer.from(
  '02c0ded2bc1f1305fb0faac5e6c03ee3a1924234985427b6167ca569d13df435cf',
  'hex',
)

/** Packed `authority` with the development key alone. */
export function developmentAuthority(): Buffer {
  const writer = new ByteWriter(64).u32(1).varuint(1).u8(0).raw(developmentKey).u16(1)
  return writer.varuint(0).varuint(0).copy()
}

/** A `newaccount` action; packed by hand, because it is native to the node. */
export function newAccountAction(creator: string, name: string): ActionInput {
  const authority = developmentAuthority()
  const data = new ByteWriter(160).u64(nameValue(creator)).u64(nameValue(name)).raw(authority).raw(authority)
  return { account: systemAccount, name: 'newaccount', actors: [creator], data: data.copy() }
}

/** Actions of the system account; `created` hears of each new account. */
export function systemActions(created: (name: string) => void): [string, ActionHandler][] {
  return [
    ['newaccount', (context) => newAccount(context, created)],
    ['onblock', () => undefined],
  ]
}

function newAccount(context: ActionContext, created: (name: string) => void): void {
  const reader = new ByteReader(context.packedData)
  reader.u64()
  const name = context.host.nameOf(reader.u64())
  context.billRam(name, newAccountBytes)
  created(name)
}
