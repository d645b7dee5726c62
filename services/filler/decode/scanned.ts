import { nameToString } from '../../core/antelope/index.ts'

/** A permission that authorized an action. */
export interface Authorization {
  readonly actor: string
  readonly permission: string
}

const PERMISSION_LEVEL_BYTES = 16
const noBytes = new Uint8Array(0)

/**
 * An executed action found in a traces payload. Names are raw halves (unsigned 32-bit numbers), other fields are
 * offsets in `payload`, so that finding an action creates no object. The scanner reuses one record, which is valid
 * during the call only; {@link copy} returns a permanent one.
 */
export class ScannedAction {
  payload: Uint8Array = noBytes
  /** Position of the transaction in the block's traces, from 0 (usually `onblock`). */
  txIndex = 0
  txIdOffset = 0
  /**
   * Billed resources of the transaction: CPU in microseconds, network in words of 8 bytes. Set only by {@link
   * Protocol.scanTransactions}.
   */
  cpuUsageUs = 0
  netUsageWords = 0
  /** Position in the transaction by order of creation, from 1. */
  actionOrdinal = 0
  /** Ordinal of the action that sent this action; 0 for an action that the user signed. */
  creatorActionOrdinal = 0
  globalSequenceLo = 0
  globalSequenceHi = 0
  accountLo = 0
  accountHi = 0
  nameLo = 0
  nameHi = 0
  /** Offset of the action's data, packed with the ABI of the account. */
  dataStart = 0
  dataEnd = 0
  authorizationCount = 0
  authorizationOffset = 0

  /** Unique number of the action in the chain's order of execution. */
  get globalSequence(): bigint {
    return (BigInt(this.globalSequenceHi) << 32n) | BigInt(this.globalSequenceLo)
  }

  /** The 32 bytes of the transaction id, a view of the payload. */
  get txid(): Uint8Array {
    return this.payload.subarray(this.txIdOffset, this.txIdOffset + 32)
  }

  /** Account whose contract defines the action; also its receiver, because notifications are not reported. */
  get account(): string {
    return nameToString(this.accountLo, this.accountHi)
  }

  get name(): string {
    return nameToString(this.nameLo, this.nameHi)
  }

  /** The action's data, a view of the payload. */
  get data(): Uint8Array {
    return this.payload.subarray(this.dataStart, this.dataEnd)
  }

  /**
   * Whether the contract sent the action itself: the action has authorizations, all by the account of the contract.
   * Nodes require an authorization per transaction, not per action, and none for a context-free action.
   */
  isSentByContract(): boolean {
    const { payload } = this
    if (this.authorizationCount === 0) return false
    for (let i = 0; i < this.authorizationCount; i++) {
      const at = this.authorizationOffset + i * PERMISSION_LEVEL_BYTES
      if (wordAt(payload, at) !== this.accountLo || wordAt(payload, at + 4) !== this.accountHi) return false
    }
    return true
  }

  /** Accounts that authorized the action, in the action's order. */
  actors(): string[] {
    return this.authorizations().map(({ actor }) => actor)
  }

  /** Permissions that authorized the action, in the action's order. */
  authorizations(): Authorization[] {
    const { buffer, byteOffset, byteLength } = this.payload
    const view = new DataView(buffer, byteOffset, byteLength)
    const nameAt = (at: number): string =>
      nameToString(view.getUint32(at, true), view.getUint32(at + 4, true))
    return Array.from({ length: this.authorizationCount }, (_, i) => {
      const at = this.authorizationOffset + i * PERMISSION_LEVEL_BYTES
      return { actor: nameAt(at), permission: nameAt(at + 8) }
    })
  }

  /** Returns a copy that the scanner does not overwrite; valid as long as the payload. */
  copy(): ScannedAction {
    const copy = new ScannedAction()
    copy.payload = this.payload
    copy.txIndex = this.txIndex
    copy.txIdOffset = this.txIdOffset
    copy.cpuUsageUs = this.cpuUsageUs
    copy.netUsageWords = this.netUsageWords
    copy.actionOrdinal = this.actionOrdinal
    copy.creatorActionOrdinal = this.creatorActionOrdinal
    copy.globalSequenceLo = this.globalSequenceLo
    copy.globalSequenceHi = this.globalSequenceHi
    copy.accountLo = this.accountLo
    copy.accountHi = this.accountHi
    copy.nameLo = this.nameLo
    copy.nameHi = this.nameHi
    copy.dataStart = this.dataStart
    copy.dataEnd = this.dataEnd
    copy.authorizationCount = this.authorizationCount
    copy.authorizationOffset = this.authorizationOffset
    return copy
  }
}

/**
 * A `contract_row` found in a deltas payload, with the form and lifetime of a {@link ScannedAction}. A removed row
 * carries its value from before the block.
 */
export class ScannedRow {
  payload: Uint8Array = noBytes
  /** False if the block removed the row. */
  present = false
  codeLo = 0
  codeHi = 0
  scopeLo = 0
  scopeHi = 0
  tableLo = 0
  tableHi = 0
  primaryKeyLo = 0
  primaryKeyHi = 0
  payerLo = 0
  payerHi = 0
  /** Offset of the row's value, packed with the ABI of the code account. */
  valueStart = 0
  valueEnd = 0

  primaryKey(): bigint {
    return (BigInt(this.primaryKeyHi) << 32n) | BigInt(this.primaryKeyLo)
  }

  /** Contract that owns the row. */
  get code(): string {
    return nameToString(this.codeLo, this.codeHi)
  }

  get scope(): string {
    return nameToString(this.scopeLo, this.scopeHi)
  }

  get table(): string {
    return nameToString(this.tableLo, this.tableHi)
  }

  get payer(): string {
    return nameToString(this.payerLo, this.payerHi)
  }

  /** The row's value, a view of the payload. */
  get value(): Uint8Array {
    return this.payload.subarray(this.valueStart, this.valueEnd)
  }

  /** Returns a copy that the scanner does not overwrite; valid as long as the payload. */
  copy(): ScannedRow {
    return Object.assign(new ScannedRow(), this)
  }
}

/** Reads an unsigned 32-bit little-endian number. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}

/** Receives the actions that {@link Protocol.scanTraces} finds, in the order of the payload. */
export interface TraceSink {
  action(action: ScannedAction): void
}

/** Receives the rows that {@link Protocol.scanDeltas} finds, in the order of the payload. */
export interface DeltaSink {
  /** A row of a watched contract. */
  row(row: ScannedRow): void
  /** An account that was created or that set its ABI, watched or not. `abi` is a view and may be empty. */
  account?(name: string, abi: Uint8Array): void
  /** An account whose code or privilege changed. `hasCode`: the account is a contract now. */
  accountMetadata?(name: string, hasCode: boolean): void
  /**
   * A row of the delta table `permission`, of any account. `present`: false if the block removed the permission. `row`
   * is a view, decoded by {@link Protocol.readPermission}.
   */
  permission?(present: boolean, row: Uint8Array): void
  /**
   * A row of the delta table `permission_link`, of any account. `present`: false if the block removed the link. `row`
   * is a view, decoded by {@link Protocol.readPermissionLink}.
   */
  permissionLink?(present: boolean, row: Uint8Array): void
}

/** The keys of a permission of an account. */
export interface PermissionRow {
  readonly account: string
  readonly permission: string
  /** Public keys such as `PUB_K1_…`, `PUB_R1_…` or `PUB_WA_…`. */
  readonly keys: readonly string[]
}

/** A link of a contract action to the permission that may authorize the action (`linkauth`). */
export interface PermissionLinkRow {
  readonly account: string
  readonly contract: string
  /** Name of the action; empty if the permission link covers all actions of the contract. */
  readonly action: string
  readonly permission: string
}
