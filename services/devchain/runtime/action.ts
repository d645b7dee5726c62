import { hash } from 'node:crypto'
import { ByteWriter } from '../bytes/index.ts'
import { nameValue } from './names.ts'

/** An action of a user or contract. Every actor authorizes with its `active` permission. */
export interface ActionInput {
  readonly account: string
  readonly name: string
  readonly actors: readonly string[]
  /** Packed action data. */
  readonly data: Buffer
}

/** An action with its packed form (account, name, authorization, data) and the sha256 of that form. */
export interface PackedAction extends ActionInput {
  readonly accountValue: bigint
  readonly packed: Buffer
  readonly digest: Buffer
}

/** Effects of one execution of an action by one receiver, as in an action trace. */
export interface ActionTrace {
  readonly ordinal: number
  readonly creator: number
  readonly receiver: string
  readonly action: PackedAction
  receipt: ActionReceipt
  /** RAM by payer that the execution allocated (positive) or freed, bytes. */
  readonly ramDeltas: Map<string, bigint>
}

/** The counters of an `action_receipt_v0`. */
export interface ActionReceipt {
  readonly global: bigint
  readonly recv: bigint
  readonly auth: readonly { readonly actor: string; readonly sequence: bigint }[]
  readonly code: number
  readonly abi: number
}

const active = nameValue('active')
const writer = new ByteWriter(4096)

/** Packs an action once, so that all receivers share the bytes. A packed action is returned as it is. */
export function packAction(input: ActionInput | PackedAction): PackedAction {
  if ('packed' in input) return input
  const accountValue = nameValue(input.account)
  writer.clear().u64(accountValue).u64(nameValue(input.name)).varuint(input.actors.length)
  for (const actor of input.actors) writer.u64(nameValue(actor)).u64(active)
  const packed = writer.blob(input.data).copy()
  return { ...input, accountValue, packed, digest: sha256(packed) }
}

/** sha256 as 32 bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer')
}
