import { ByteReader } from '../bytes/index.ts'
import { Journal } from './journal.ts'
import { ContractRows } from './rows.ts'

/** Properties of an account that the chain API and the contracts of this devchain need. */
export interface ChainAccount {
  readonly name: bigint
  readonly creationSlot: number
  /** Packed `abi_def` of the account; empty if the account has no ABI. */
  readonly abi: Buffer
  /** sha256 of the code, 32 bytes; null without code. */
  readonly codeHash: Buffer | null
}

/** Counters of action receipts, by name value. */
export interface Sequences {
  global: bigint
  readonly recv: Map<bigint, bigint>
  readonly auth: Map<bigint, bigint>
  readonly code: Map<bigint, number>
  readonly abi: Map<bigint, number>
}

/**
 * State of the chain at its head, computed from the deltas and traces of its blocks, and rewound with them. Parses the
 * layouts of Leap, which wrote the recordings.
 */
export class ChainState {
  readonly journal = new Journal()
  readonly rows = new ContractRows(this.journal)
  readonly accounts = new Map<bigint, ChainAccount>()
  readonly sequences: Sequences = {
    global: 0n,
    recv: new Map(),
    auth: new Map(),
    code: new Map(),
    abi: new Map(),
  }
  /** RAM usage in bytes by account, from `resource_usage` rows. */
  readonly ramBytes = new Map<bigint, bigint>()

  /** Applies a packed `table_delta[]`. Throws `RangeError` if the bytes are incomplete. */
  applyDeltas(deltas: Buffer): void {
    const reader = new ByteReader(deltas)
    for (let tables = reader.varuint(); tables > 0; tables--) {
      reader.u8()
      const apply = this.#rowHandler(reader.blob().toString('latin1'))
      for (let rows = reader.varuint(); rows > 0; rows--) {
        const present = reader.bool()
        const row = reader.blob()
        if (apply !== null) apply(present, new ByteReader(row, 1))
      }
    }
  }

  /** Sets a map entry, with an undo step in the journal. */
  set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const before = map.get(key)
    map.set(key, value)
    this.journal.record(() => {
      if (before === undefined) map.delete(key)
      else map.set(key, before)
    })
  }

  /** Sets the counter of executed actions, with an undo step in the journal. */
  setGlobalSequence(value: bigint): void {
    const before = this.sequences.global
    this.sequences.global = value
    this.journal.record(() => {
      this.sequences.global = before
    })
  }

  #rowHandler(table: string): ((present: boolean, row: ByteReader) => void) | null {
    switch (table) {
      case 'contract_row':
        return (present, row) => this.#applyContractRow(present, row)
      case 'account':
        return (present, row) => this.#applyAccount(present, row)
      case 'account_metadata':
        return (present, row) => this.#applyAccountMetadata(present, row)
      case 'resource_usage':
        return (_, row) => {
          const owner = row.u64()
          // Skip the two usage accumulators of the row (variant byte, u32, two u64 each): RAM usage follows them.
          row.take(2 * 21)
          this.set(this.ramBytes, owner, row.u64())
        }
      default:
        return null
    }
  }

  #applyContractRow(present: boolean, row: ByteReader): void {
    const code = row.u64()
    const scope = row.u64()
    const table = row.u64()
    const primaryKey = row.u64()
    const payer = row.u64()
    if (present) this.rows.put({ code, scope, table, primaryKey }, payer, row.blob())
    else this.rows.erase(code, scope, table, primaryKey)
  }

  #applyAccount(present: boolean, row: ByteReader): void {
    const name = row.u64()
    const creationSlot = row.u32()
    const abi = row.blob()
    const codeHash = this.accounts.get(name)?.codeHash ?? null
    if (present) this.set(this.accounts, name, { name, creationSlot, abi, codeHash })
  }

  #applyAccountMetadata(present: boolean, row: ByteReader): void {
    const name = row.u64()
    row.take(1 + 8)
    const hasCode = row.bool()
    if (hasCode) row.take(2)
    const codeHash = hasCode ? row.take(32) : null
    const account = this.accounts.get(name)
    if (present && account) this.set(this.accounts, name, { ...account, codeHash })
  }
}
