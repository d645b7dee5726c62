import { ByteWriter } from '../bytes/index.ts'
import { nameValue, sha256 } from '../runtime/index.ts'
import { SYSTEM_ACCOUNT } from '../contracts/system.ts'
import { signatureOf } from './pack-transaction.ts'
import type { SignedTransaction } from './pack-transaction.ts'

/** Content of a block. */
export interface BlockParts {
  readonly num: number
  readonly slot: number
  readonly previousId: Buffer
  readonly transactions: readonly SignedTransaction[]
  /** Digests of the executed actions, in order of execution. */
  readonly actionDigests: readonly Buffer[]
}

/** The part of a block that its id is computed from. */
export interface HeaderParts {
  readonly num: number
  readonly slot: number
  readonly previousId: Buffer
  readonly transactionRoot: Buffer
  readonly actionRoot: Buffer
}

/** Size of a packed header without new producers and extensions, as every header here is. */
const HEADER_BYTES = 116
const writer = new ByteWriter(16 * 1024)

/**
 * Packs a block header with its signature, and the id: the sha256 of the header with the block number in the
 * first four bytes.
 */
export function packHeader(parts: HeaderParts): { id: Buffer; header: Buffer } {
  writer.clear().u32(parts.slot).u64(nameValue(SYSTEM_ACCOUNT)).u16(0).raw(parts.previousId)
  writer.raw(parts.transactionRoot).raw(parts.actionRoot)
  const digest = sha256(writer.u32(0).bool(false).varuint(0).copy())
  const id = Buffer.from(digest)
  id.writeUInt32BE(parts.num, 0)
  return { id, header: writer.u8(0).raw(signatureOf(digest)).copy() }
}

/** Packs a `signed_block` and its id. The roots are plain hashes of the digests, not Merkle roots. */
export function packBlock(parts: BlockParts): { id: Buffer; bytes: Buffer } {
  const { id, header } = packHeader({
    ...parts,
    transactionRoot: rootOf(parts.transactions.map((transaction) => transaction.id)),
    actionRoot: rootOf(parts.actionDigests),
  })
  writer.clear().raw(header).varuint(parts.transactions.length)
  for (const transaction of parts.transactions) writeReceipt(transaction)
  return { id, bytes: writer.varuint(0).copy() }
}

/** The packed header at the front of a `signed_block`. */
export function headerOf(block: Buffer): Buffer {
  return block.subarray(0, HEADER_BYTES)
}

function writeReceipt(transaction: SignedTransaction): void {
  writer.u8(0).u32(transaction.cpuUs).varuint(transaction.netWords)
  // Variant 1, one K1 signature, no compression, no context-free data.
  writer
    .u8(1)
    .varuint(1)
    .u8(0)
    .raw(transaction.signature ?? Buffer.alloc(65))
  writer.u8(0).varuint(0).blob(transaction.packed)
}

function rootOf(digests: readonly Buffer[]): Buffer {
  return digests.length === 0 ? Buffer.alloc(32) : sha256(Buffer.concat(digests))
}
