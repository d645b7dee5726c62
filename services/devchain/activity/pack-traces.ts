import { ByteWriter } from '../bytes/index.ts'
import { merkleRoot } from '../../core/antelope/merkle/index.ts'
import { nameValue, sha256 } from '../runtime/index.ts'
import type { ActionTrace } from '../runtime/index.ts'
import type { SignedTransaction } from './pack-transaction.ts'

/**
 * Writes a `transaction_trace_v0` of an executed transaction, with `action_trace_v1` entries by ordinal, as Leap does.
 * `elapsed` and `console` are empty, as outside of debug mode.
 */
export function writeTransactionTrace(
  writer: ByteWriter,
  transaction: SignedTransaction,
  traces: readonly ActionTrace[],
): void {
  writer.u8(0).raw(transaction.id).u8(0)
  writer.u32(transaction.cpuUs).varuint(transaction.netWords)
  writer
    .u64(0n)
    .u64(BigInt(transaction.netWords * 8))
    .bool(false)
  writer.varuint(traces.length)
  for (const trace of traces) writeActionTrace(writer, trace)
  // Next fields of the transaction trace: no RAM delta, exception, error code or failed deferred transaction.
  writer.bool(false).bool(false).bool(false).bool(false)
  writer.bool(true)
  writePartial(writer, transaction)
}

const expiredId = Buffer.alloc(32, 0xee)

/** Writes the `transaction_trace_v0` of an expired transaction without actions; its id is derived from `number`. */
export function writeExpiredTrace(writer: ByteWriter, number: number): void {
  expiredId.writeUInt32BE(number)
  // A trace begins with: id, status 4 (expired), no CPU, bandwidth or elapsed time, not scheduled, no action traces.
  writer.u8(0).raw(expiredId).u8(4).u32(0).varuint(0).u64(0n).u64(0n).bool(false).varuint(0)
  // A trace ends with: no RAM delta, exception, error code, failed deferred transaction or partial transaction.
  writer.bool(false).bool(false).bool(false).bool(false).bool(false)
}

const receiptWriter = new ByteWriter(256)

/** Computes the `action_mroot` of a block over the receipts of its executed actions, in order of execution. */
export function actionRoot(traces: readonly ActionTrace[]): Buffer {
  const inOrder = traces.toSorted((a, b) => (a.receipt.global < b.receipt.global ? -1 : 1))
  return merkleRoot(Buffer.concat(inOrder.map((trace) => sha256(packReceipt(trace)))))
}

function packReceipt({ receiver, action, receipt }: ActionTrace): Buffer {
  receiptWriter.clear().u64(nameValue(receiver)).raw(action.digest).u64(receipt.global).u64(receipt.recv)
  receiptWriter.varuint(receipt.auth.length)
  for (const { actor, sequence } of receipt.auth) receiptWriter.u64(nameValue(actor)).u64(sequence)
  return receiptWriter.varuint(receipt.code).varuint(receipt.abi).copy()
}

function writeActionTrace(writer: ByteWriter, trace: ActionTrace): void {
  writer.u8(1).varuint(trace.ordinal).varuint(trace.creator)
  writer.bool(true).u8(0).raw(packReceipt(trace))
  writer.u64(nameValue(trace.receiver)).raw(trace.action.packed)
  // Next fields of the action trace: not context-free, no elapsed time, no console output.
  writer.bool(false).u64(0n).varuint(0)
  writer.varuint(trace.ramDeltas.size)
  const deltas = [...trace.ramDeltas].map(([payer, bytes]) => [nameValue(payer), bytes] as const)
  for (const [payer, bytes] of deltas.sort(([a], [b]) => (a < b ? -1 : 1))) writer.u64(payer).i64(bytes)
  // Last fields of the action trace: no exception, no error code, no return value.
  writer.bool(false).bool(false).varuint(0)
}

function writePartial(writer: ByteWriter, { header, signature }: SignedTransaction): void {
  writer.u8(0).raw(header).varuint(0)
  if (signature === null) writer.varuint(0)
  else writer.varuint(1).u8(0).raw(signature)
  writer.varuint(0)
}
