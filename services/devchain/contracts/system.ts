import { ByteReader, ByteWriter } from '../bytes/index.ts'
import type { ActionContext, ActionInput, ActionHandler } from '../runtime/index.ts'
import { nameValue, sha256 } from '../runtime/index.ts'

/** Account of the system contract. */
export const SYSTEM_ACCOUNT = 'eosio'

/** RAM that a node bills for an account with two permissions of one key each, bytes. */
const NEW_ACCOUNT_BYTES = 2724n

/** A node bills ten times the size of a contract's code. */
const CODE_BILLING_FACTOR = 10n

/**
 * Public key of all generated accounts: 33 bytes after the type byte. The well-known development key of Antelope
 * chains; the recorded accounts use it too.
 */
const developmentKey = Buffer.from(
  '02c0ded2bc1f1305fb0faac5e6c03ee3a1924234985427b6167ca569d13df435cf',
  'hex',
)

/** Packed `authority` with only the development key. */
export function developmentAuthority(): Buffer {
  const writer = new ByteWriter(64).u32(1).varuint(1).u8(0).raw(developmentKey).u16(1)
  return writer.varuint(0).varuint(0).copy()
}

/** A `newaccount` action; packed by hand, because the action is native to the node. */
export function newAccountAction(creator: string, name: string): ActionInput {
  const authority = developmentAuthority()
  const data = new ByteWriter(160).u64(nameValue(creator)).u64(nameValue(name)).raw(authority).raw(authority)
  return { account: SYSTEM_ACCOUNT, name: 'newaccount', actors: [creator], data: data.copy() }
}

/** A `setcode` action. The contracts of this devchain are not WebAssembly, so the code is an empty module. */
export function setCodeAction(account: string, code: Uint8Array): ActionInput {
  const data = new ByteWriter(64).u64(nameValue(account)).u8(0).u8(0).blob(code)
  return { account: SYSTEM_ACCOUNT, name: 'setcode', actors: [account], data: data.copy() }
}

/** A `setabi` action with a packed ABI. */
export function setAbiAction(account: string, abi: Uint8Array): ActionInput {
  const data = new ByteWriter(abi.length + 16).u64(nameValue(account)).blob(abi)
  return { account: SYSTEM_ACCOUNT, name: 'setabi', actors: [account], data: data.copy() }
}

/** Listener for new and changed accounts. */
export interface AccountWatcher {
  created(name: string): void
  codeSet(name: string, code: Buffer): void
  abiSet(name: string, abi: Buffer): void
}

/** Handlers of the system account's actions. */
export function systemActions(watcher: AccountWatcher): [string, ActionHandler][] {
  return [
    ['newaccount', (context) => newAccount(context, watcher)],
    ['setcode', (context) => setCode(context, watcher)],
    ['setabi', (context) => setAbi(context, watcher)],
    ['onblock', () => undefined],
  ]
}

function newAccount(context: ActionContext, watcher: AccountWatcher): void {
  const reader = new ByteReader(context.packedData)
  reader.u64()
  const name = context.host.nameOf(reader.u64())
  context.billRam(name, NEW_ACCOUNT_BYTES)
  watcher.created(name)
}

function setCode(context: ActionContext, watcher: AccountWatcher): void {
  const reader = new ByteReader(context.packedData)
  const name = context.host.nameOf(reader.u64())
  reader.take(2)
  const code = reader.blob()
  context.billRam(name, BigInt(code.length) * CODE_BILLING_FACTOR)
  watcher.codeSet(name, code)
}

/** The system contract stores the hash of every ABI in a table. */
function setAbi(context: ActionContext, watcher: AccountWatcher): void {
  const reader = new ByteReader(context.packedData)
  const name = context.host.nameOf(reader.u64())
  const abi = reader.blob()
  context.billRam(name, BigInt(abi.length))
  context.put(
    { table: 'abihash', scope: SYSTEM_ACCOUNT, key: nameValue(name), payer: name },
    {
      owner: name,
      hash: sha256(abi).toString('hex'),
    },
  )
  watcher.abiSet(name, abi)
}
