import { ByteReader } from '../bytes/index.ts'
import type { ChainState } from './state.ts'

/**
 * Reads the action receipts of a packed `transaction_trace[]` (layout of Leap) and advances the chain's sequence
 * counters, so that generated blocks continue them. Throws `RangeError` if the bytes are incomplete.
 */
export function applyReceipts(state: ChainState, traces: Buffer): void {
  const reader = new ByteReader(traces)
  for (let left = reader.varuint(); left > 0; left--) readTransaction(state, reader, true)
}

function readTransaction(state: ChainState, reader: ByteReader, outer: boolean): void {
  reader.take(1 + 32)
  const executed = reader.u8() === 0 && outer
  reader.take(4)
  reader.varuint()
  reader.take(8 + 8 + 1)
  for (let left = reader.varuint(); left > 0; left--) readAction(state, reader, executed)
  if (reader.bool()) reader.take(16)
  if (reader.bool()) reader.blob()
  if (reader.bool()) reader.take(8)
  if (reader.bool()) readTransaction(state, reader, false)
  if (reader.bool()) skipPartial(reader)
}

function readAction(state: ChainState, reader: ByteReader, executed: boolean): void {
  const version = reader.u8()
  reader.varuint()
  reader.varuint()
  const sequences = reader.bool() ? readReceipt(state, reader, executed) : null
  reader.take(8)
  const account = reader.u64()
  reader.take(8)
  for (let left = reader.varuint(); left > 0; left--) reader.take(16)
  reader.blob()
  reader.take(1 + 8)
  reader.blob()
  for (let left = reader.varuint(); left > 0; left--) reader.take(16)
  if (reader.bool()) reader.blob()
  if (reader.bool()) reader.take(8)
  if (version > 0) reader.blob()
  if (sequences === null || !executed) return
  state.set(state.sequences.code, account, sequences.code)
  state.set(state.sequences.abi, account, sequences.abi)
}

function readReceipt(
  state: ChainState,
  reader: ByteReader,
  executed: boolean,
): { code: number; abi: number } {
  reader.u8()
  const receiver = reader.u64()
  reader.take(32)
  const global = reader.u64()
  const recv = reader.u64()
  const auth: [bigint, bigint][] = []
  for (let left = reader.varuint(); left > 0; left--) auth.push([reader.u64(), reader.u64()])
  if (executed) {
    if (global > state.sequences.global) state.setGlobalSequence(global)
    raise(state, state.sequences.recv, receiver, recv)
    for (const [account, sequence] of auth) raise(state, state.sequences.auth, account, sequence)
  }
  return { code: reader.varuint(), abi: reader.varuint() }
}

/**
 * Raises a counter to a value; a lower value changes nothing. Traces come in order of creation, not of execution, so a
 * later trace may have a lower value.
 */
function raise(state: ChainState, map: Map<bigint, bigint>, key: bigint, value: bigint): void {
  if (value > (map.get(key) ?? 0n)) state.set(map, key, value)
}

function skipPartial(reader: ByteReader): void {
  reader.take(1 + 4 + 2 + 4)
  reader.varuint()
  reader.take(1)
  reader.varuint()
  for (let left = reader.varuint(); left > 0; left--) {
    reader.take(2)
    reader.blob()
  }
  for (let left = reader.varuint(); left > 0; left--) skipSignature(reader)
  for (let left = reader.varuint(); left > 0; left--) reader.blob()
}

function skipSignature(reader: ByteReader): void {
  const type = reader.u8()
  reader.take(65)
  if (type < 2) return
  // A WebAuthn signature has authenticator data and client JSON after the 65 bytes.
  reader.blob()
  reader.blob()
}
