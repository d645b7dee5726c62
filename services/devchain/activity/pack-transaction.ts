import { ByteWriter } from '../bytes/index.ts'
import { packAction, sha256 } from '../runtime/index.ts'
import type { ActionInput } from '../runtime/index.ts'

/** A transaction in the packed forms for blocks and traces. */
export interface SignedTransaction {
  /** sha256 of the packed transaction. */
  readonly id: Buffer
  /** Packed transaction header: expiration, reference block, limits. */
  readonly header: Buffer
  readonly packed: Buffer
  /** A fake K1 signature of 65 bytes; null for the implicit transaction of a block. */
  readonly signature: Buffer | null
  readonly cpuUs: number
  /** Billed network bandwidth, in words of eight bytes. */
  readonly netWords: number
}

/** Reference block of a transaction, and its expiration (epoch seconds). */
export interface TransactionFrame {
  readonly expiresAt: number
  readonly refNum: number
  readonly refId: Buffer
}

const writer = new ByteWriter(4096)

/** Packs a user's transaction. */
export function packTransaction(
  frame: TransactionFrame,
  actions: readonly ActionInput[],
  cpuUs: number,
): SignedTransaction {
  writer
    .clear()
    .u32(frame.expiresAt)
    .u16(frame.refNum & 0xffff)
    .u32(frame.refId.readUInt32LE(8))
  const header = writer.varuint(0).u8(0).varuint(0).copy()
  writer.clear().raw(header).varuint(0).varuint(actions.length)
  for (const action of actions) writer.raw(packAction(action).packed)
  const packed = writer.varuint(0).copy()
  const id = sha256(packed)
  const netWords = Math.ceil((packed.length + 66 + 12) / 8)
  return { id, header, packed, signature: signatureOf(id), cpuUs, netWords }
}

/** Packs the implicit `onblock` transaction that begins every block; it has no signature. */
export function packOnBlock(action: ActionInput): SignedTransaction {
  const header = Buffer.alloc(13)
  writer.clear().raw(header).varuint(0).varuint(1).raw(packAction(action).packed)
  const packed = writer.varuint(0).copy()
  return { id: sha256(packed), header, packed, signature: null, cpuUs: 100, netWords: 0 }
}

/** A fake signature of 65 bytes, derived from a digest. The first byte is a plausible recovery id. */
export function signatureOf(digest: Buffer): Buffer {
  return Buffer.concat([Buffer.from([31]), sha256(digest), sha256(Buffer.concat([digest, digest]))])
}
