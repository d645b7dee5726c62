import { ByteWriter } from '../bytes/index.ts'
import type { ChainAccount, ContractRow, RowChanges } from '../chain/index.ts'
import { developmentAuthority } from '../contracts/system.ts'
import { nameValue, sha256 } from '../runtime/index.ts'

/** Changes that a block makes to contract rows, accounts and resource usage. */
export interface BlockChanges {
  readonly num: number
  readonly slot: number
  /** Time of the block in microseconds since the epoch. */
  readonly timeUs: bigint
  readonly rows: RowChanges
  readonly accounts: AccountChanges
  /** RAM in bytes of the accounts whose resource usage changed. */
  readonly usage: ReadonlyMap<bigint, bigint>
  readonly transactions: number
}

/** Changes that a block makes to accounts. The key of an account is the 64-bit value of its name. */
export interface AccountChanges {
  readonly created: readonly bigint[]
  /** Created and changed `account` rows, as of the end of the block. */
  readonly rows: ReadonlyMap<bigint, ChainAccount>
  /** Deployed code by account. */
  readonly codes: ReadonlyMap<bigint, Buffer>
}

/** Account changes of a block that changes no account. */
export const noAccountChanges: AccountChanges = { created: [], rows: new Map(), codes: new Map() }

const writer = new ByteWriter(64 * 1024)
const rowWriter = new ByteWriter(4096)

/** Window of the moving averages of resource usage, blocks. */
const AVERAGE_WINDOW_BLOCKS = 120n
const USAGE_PRECISION = 1_000_000n

/**
 * Packs a `table_delta[]` as a Leap node does: tables in their fixed order; within a table, first the modified rows,
 * then the removed rows with their old value, then the created rows. Tables that readers of contract rows do not need
 * (`contract_table`, secondary indexes) are left out.
 */
export function packDeltas(changes: BlockChanges): Buffer {
  const { slot, timeUs } = changes
  const { created: newAccounts, rows: accounts, codes } = changes.accounts
  const withMetadata = [...new Set([...newAccounts, ...codes.keys()])]
  const tables: [string, Iterable<{ present: boolean; row: Buffer }>][] = [
    ['account', [...accounts.values()].map((account) => created(accountRow(account)))],
    ['account_metadata', withMetadata.map((name) => created(metadataRow(name, codes.get(name), timeUs)))],
    ['code', [...codes.values()].map((code) => created(codeRow(code)))],
    ['contract_row', contractRows(changes.rows)],
    ['permission', newAccounts.flatMap((name) => permissionRows(name, timeUs).map(created))],
    ['resource_limits', newAccounts.map((name) => created(limitsRow(name)))],
    ['resource_usage', [...changes.usage].map(([name, ram]) => created(usageRow(name, ram, slot)))],
    ['resource_limits_state', [created(limitsStateRow(changes))]],
  ]
  const filled = tables
    .map(([name, rows]) => [name, [...rows]] as const)
    .filter(([, rows]) => rows.length > 0)
  writer.clear().varuint(filled.length)
  for (const [name, rows] of filled) {
    writer.u8(0).text(name).varuint(rows.length)
    for (const { present, row } of rows) writer.bool(present).blob(row)
  }
  return writer.copy()
}

function* contractRows({
  modified,
  removed,
  created: made,
}: RowChanges): Iterable<{ present: boolean; row: Buffer }> {
  // A node's undo list has the latest change first.
  for (const { row } of [...modified.values()].reverse())
    yield created(contractRow(row, row.payer, row.value))
  for (const image of removed.toReversed()) {
    yield { present: false, row: contractRow(image.row, image.payer, image.value) }
  }
  for (const row of made.values()) yield created(contractRow(row, row.payer, row.value))
}

function created(row: Buffer): { present: boolean; row: Buffer } {
  return { present: true, row }
}

function contractRow(row: ContractRow, payer: bigint, value: Buffer): Buffer {
  const { code, scope, table } = row.table
  rowWriter.clear().u8(0).u64(code).u64(scope).u64(table).u64(row.primaryKey)
  return rowWriter.u64(payer).blob(value).copy()
}

function accountRow({ name, creationSlot, abi }: ChainAccount): Buffer {
  return rowWriter.clear().u8(0).u64(name).u32(creationSlot).blob(abi).copy()
}

function metadataRow(name: bigint, code: Buffer | undefined, timeUs: bigint): Buffer {
  rowWriter.clear().u8(0).u64(name).bool(false)
  if (code === undefined) return rowWriter.u64(0n).bool(false).copy()
  return rowWriter.u64(timeUs).bool(true).u8(0).u8(0).raw(sha256(code)).copy()
}

function codeRow(code: Buffer): Buffer {
  return rowWriter.clear().u8(0).u8(0).u8(0).raw(sha256(code)).blob(code).copy()
}

function permissionRows(name: bigint, timeUs: bigint): Buffer[] {
  const authority = developmentAuthority()
  const [owner, active] = [nameValue('owner'), nameValue('active')]
  return [
    rowWriter.clear().u8(0).u64(name).u64(owner).u64(0n).u64(timeUs).raw(authority).copy(),
    rowWriter.clear().u8(0).u64(name).u64(active).u64(owner).u64(timeUs).raw(authority).copy(),
  ]
}

function limitsRow(name: bigint): Buffer {
  return rowWriter.clear().u8(0).u64(name).i64(-1n).i64(-1n).i64(-1n).copy()
}

/** The usage accumulators are plausible numbers, not real averages: this chain bills nothing. */
function usageRow(name: bigint, ram: bigint, slot: number): Buffer {
  rowWriter.clear().u8(0).u64(name)
  writeAccumulator(slot, (name ^ BigInt(slot)) % USAGE_PRECISION, 128n)
  writeAccumulator(slot, (name + BigInt(slot)) % USAGE_PRECISION, 300n)
  return rowWriter.u64(ram < 0n ? 0n : ram).copy()
}

function limitsStateRow({ num, transactions }: BlockChanges): Buffer {
  const used = BigInt(transactions) * 128n
  rowWriter.clear().u8(0)
  writeAccumulator(num, (used * USAGE_PRECISION) / AVERAGE_WINDOW_BLOCKS, used)
  writeAccumulator(num, (used * 3n * USAGE_PRECISION) / AVERAGE_WINDOW_BLOCKS, used * 3n + 101n)
  return rowWriter.u64(0n).u64(0n).u64(0n).u64(1_048_576n).u64(200_000n).copy()
}

function writeAccumulator(ordinal: number, average: bigint, consumed: bigint): void {
  rowWriter.u8(0).u32(ordinal).u64(average).u64(consumed)
}
