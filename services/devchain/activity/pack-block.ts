import { merkleRoot } from '../../core/antelope/merkle/index.ts'
import { ByteWriter } from '../bytes/index.ts'
import { nameValue, sha256 } from '../runtime/index.ts'
import type { ActionTrace } from '../runtime/index.ts'
import { SYSTEM_ACCOUNT } from '../contracts/system.ts'
import { actionRoot } from './pack-traces.ts'
import { signatureOf } from './pack-transaction.ts'
import type { SignedTransaction } from './pack-transaction.ts'

export interface BlockParts {
  readonly num: number
  readonly slot: number
  readonly previousId: Buffer
  readonly transactions: readonly SignedTransaction[]
  /** Traces of all actions that the block executes. */
  readonly actions: readonly ActionTrace[]
}

/** The header fields, from which the block id is computed. */
export interface HeaderParts {
  readonly num: number
  readonly slot: number
  readonly previousId: Buffer
  readonly transactionRoot: Buffer
  readonly actionRoot: Buffer
}

/** Size of a packed header without new producers and extensions, bytes; generated headers never have these. */
const HEADER_BYTES = 116
const writer = new ByteWriter(16 * 1024)

/**
 * Packs a block header with its signature, and computes the block id: the sha256 of the header with the block number
 * in its first four bytes.
 */
export function packHeader(parts: HeaderParts): { id: Buffer; header: Buffer } {
  writer.clear().u32(parts.slot).u64(nameValue(SYSTEM_ACCOUNT)).u16(0).raw(parts.previousId)
  writer.raw(parts.transactionRoot).raw(parts.actionRoot)
  const digest = sha256(writer.u32(0).bool(false).varuint(0).copy())
  const id = Buffer.from(digest)
  id.writeUInt32BE(parts.num, 0)
  return { id, header: writer.u8(0).raw(signatureOf(digest)).copy() }
}

/** Packs a `signed_block` and computes its id. */
export function packBlock(parts: BlockParts): { id: Buffer; bytes: Buffer } {
  const { id, header } = packHeader({
    ...parts,
    transactionRoot: transactionRoot(parts.transactions),
    actionRoot: actionRoot(parts.actions),
  })
  writer.clear().raw(header).varuint(parts.transactions.length)
  for (const transaction of parts.transactions) writeReceipt(transaction)
  return { id, bytes: writer.varuint(0).copy() }
}

/** The packed header at the start of a `signed_block`. */
export function headerOf(block: Buffer): Buffer {
  return block.subarray(0, HEADER_BYTES)
}

function writeReceipt(transaction: SignedTransaction): void {
  const { usage, signatures, packed } = receiptParts(transaction)
  // Packed transaction: variant 1, signatures, no compression, no context-free data.
  writer.raw(usage).u8(1).raw(signatures).u8(0).varuint(0).raw(packed)
}

/** Computes the `transaction_mroot` of a block. */
export function transactionRoot(transactions: readonly SignedTransaction[]): Buffer {
  return merkleRoot(Buffer.concat(transactions.map(receiptDigest)))
}

/** Digest of a transaction receipt: status, usage, and the packed transaction. */
function receiptDigest(transaction: SignedTransaction): Buffer {
  const { usage, signatures, packed } = receiptParts(transaction)
  // Nodes may prune signatures and context-free data, so these have a digest of their own.
  const prunable = sha256(Buffer.concat([signatures, Buffer.alloc(1)]))
  return sha256(Buffer.concat([usage, sha256(Buffer.concat([Buffer.alloc(1), packed, prunable]))]))
}

const partWriter = new ByteWriter(1024)

function receiptParts(transaction: SignedTransaction): { usage: Buffer; signatures: Buffer; packed: Buffer } {
  const usage = partWriter.clear().u8(0).u32(transaction.cpuUs).varuint(transaction.netWords).copy()
  const signature = transaction.signature ?? Buffer.alloc(65)
  // A list with one K1 signature.
  const signatures = partWriter.clear().varuint(1).u8(0).raw(signature).copy()
  return { usage, signatures, packed: partWriter.clear().blob(transaction.packed).copy() }
}
