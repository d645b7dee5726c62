import { hash } from 'node:crypto'
import { merkleRoot, writeDigest } from '../../core/antelope/merkle/index.ts'
import {
  beginReading,
  CodeEmitter,
  DecodeFailure,
  linkCode,
  PROLOGUE,
} from '../../core/antelope/decoder/index.ts'
import type { StructNode, TypeNode } from '../../core/antelope/types/index.ts'
import { elementOf, fieldOf, structsOf } from './protocol-shape.ts'
import { assignSmall, walkFields, walkStructs } from './walker-code.ts'

/** The part of a block whose Merkle root differs from the root in the header. */
export type FalseContent = 'transactions' | 'actions'

/**
 * Compares the transactions of a block payload and the actions of a traces payload with the Merkle roots in the header.
 * Null if all roots match, or if the header has no such roots. With the Savanna consensus the fields of the roots have
 * another meaning.
 *
 * @param traces null if the node sent none.
 */
export type RootCheck = (block: Uint8Array, traces: Uint8Array | null) => FalseContent | null

/**
 * Walks a payload and pushes the offsets of each item (a transaction or an action) to `items`.
 * @returns the offset at which the walk ended.
 */
type Walk = (items: number[]) => number

const DIGEST_BYTES = 32
/** Fields of the header up to the version of the producer schedule; each has a fixed size. */
const headerFields = [
  ...['timestamp', 'producer', 'confirmed', 'previous'],
  ...['transaction_mroot', 'action_mroot', 'schedule_version'],
]
const TRANSACTION_ROOT = 46
const ACTION_ROOT = TRANSACTION_ROOT + DIGEST_BYTES
const SCHEDULE_VERSION = ACTION_ROOT + DIGEST_BYTES
/** Schedule version that marks a header of the Savanna consensus. */
const SAVANNA_VERSION = 2 ** 31
const EXECUTED = 0

/**
 * Creates the check of the Merkle roots. @param blocks structs that a block payload may have, with their variant
 * index.
 */
export function createRootCheck(
  blocks: readonly { readonly struct: StructNode; readonly index: number | null }[],
  traces: TypeNode,
): RootCheck {
  const hasRoots = blocks.map(({ struct }) =>
    headerFields.every((name, place) => struct.fields[place]?.name === name),
  )
  const transactionWalks = blocks.map(({ struct }) => transactionWalk(struct))
  const walkActions = actionWalk(traces)
  const isVariant = blocks[0]?.index !== null
  const actDigests = new ActDigests()
  return (block, tracesPayload) => {
    const kind = isVariant ? block[0]! : 0
    const start = isVariant ? 1 : 0
    if (hasRoots[kind] !== true) return null
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.length)
    if (bytes.readUInt32LE(start + SCHEDULE_VERSION) === SAVANNA_VERSION) return null
    const rootAt = (offset: number) => bytes.subarray(start + offset, start + offset + DIGEST_BYTES)
    const walk = transactionWalks[kind] ?? null
    if (walk !== null) {
      const digests = transactionDigests(bytes, itemsOf(walk, block, start))
      if (digests === null || !merkleRoot(digests).equals(rootAt(TRANSACTION_ROOT))) return 'transactions'
    }
    if (walkActions === null || tracesPayload === null || tracesPayload.length === 0) return null
    const payload = Buffer.from(tracesPayload.buffer, tracesPayload.byteOffset, tracesPayload.length)
    const digests = actDigests.receipts(payload, itemsOf(walkActions, tracesPayload, 0))
    return digests !== null && merkleRoot(digests).equals(rootAt(ACTION_ROOT)) ? null : 'actions'
  }
}

/** Runs a walk over a payload; null if the payload does not fit its type. */
function itemsOf(walk: Walk, payload: Uint8Array, start: number): number[] | null {
  const items: number[] = []
  beginReading(payload, start, payload.length)
  try {
    walk(items)
    return items
  } catch (error) {
    if (error instanceof DecodeFailure) return null
    throw error
  }
}

const NUMBERS_OF_TRANSACTION = 7

/** Generates the walk over the transaction receipts of a block; null if the protocol's receipts have another layout. */
function transactionWalk(struct: StructNode): Walk | null {
  const place = struct.fields.findIndex(({ name }) => name === 'transactions')
  const list = struct.fields[place]?.type
  const receipt = list?.kind === 'array' ? list.element : undefined
  if (receipt?.kind !== 'struct') return null
  if (!hasOrder(receipt, ['status', 'cpu_usage_us', 'net_usage_words', 'trx'])) return null
  const trx = receipt.fields[3]!.type
  const [id, packed] = trx.kind === 'variant' ? trx.alternatives.map(({ type }) => type) : []
  if (id?.kind !== 'builtin' || packed?.kind !== 'struct') return null
  if (!hasOrder(packed, ['signatures', 'compression', 'packed_context_free_data', 'packed_trx'])) return null
  const [signatures, compression, contextFree, transaction] = packed.fields
  const emitter = new CodeEmitter()
  const { minSize, work } = emitter.measures.of(receipt)
  return link(
    emitter,
    `${emitter.skipFields(struct.fields.slice(0, place))}
    R.at = p; const count = readCount(${minSize}, ${work}); p = R.at;
    for (let tx = 0; tx < count; tx++) {
      const rs = p; ${emitter.skipFields(receipt.fields.slice(0, 3))} const rm = p;
      let kind = 0; ${assignSmall('kind')}
      if (kind === 0) { const ss = p; ${emitter.skip(id)} S.push(rs, rm, ss, p, -1, 0, 0); }
      else if (kind === 1) {
        const ss = p; ${emitter.skip(signatures!.type)} const se = p; ${emitter.skip(compression!.type)} const ce = p;
        ${emitter.skip(contextFree!.type)} const fe = p; ${emitter.skip(transaction!.type)}
        S.push(rs, rm, ss, se, ce, fe, p);
      } else refuse('a transaction has no alternative ' + kind, p - 1);
    }
    return p;`,
  )
}

/** Digest of each receipt: hash of its status and usage, and of the transaction id or the packed transaction. */
function transactionDigests(bytes: Buffer, items: readonly number[] | null): Buffer | null {
  if (items === null) return null
  const digests = Buffer.alloc((items.length / NUMBERS_OF_TRANSACTION) * DIGEST_BYTES)
  const digest = Buffer.alloc(DIGEST_BYTES)
  for (let at = 0, place = 0; at < items.length; at += NUMBERS_OF_TRANSACTION, place += DIGEST_BYTES) {
    const [start, usageEnd, first, second, third, fourth, end] = items.slice(at, at + NUMBERS_OF_TRANSACTION)
    const part = (from: number | undefined, to: number | undefined) => bytes.subarray(from, to)
    if (third === -1) part(first, second).copy(digest)
    else {
      // Signatures and context-free data have their own digest, because a node may prune both from the transaction.
      writeDigest(Buffer.concat([part(first, second), part(third, fourth)]), digest, 0)
      writeDigest(Buffer.concat([part(second, third), part(fourth, end), digest]), digest, 0)
    }
    writeDigest(Buffer.concat([part(start, usageEnd), digest]), digests, place)
  }
  return digests
}

const NUMBERS_OF_ACTION = 7
const receiptFields = [
  ...['receiver', 'act_digest', 'global_sequence', 'recv_sequence'],
  ...['auth_sequence', 'code_sequence', 'abi_sequence'],
]
const actFields = ['account', 'name', 'authorization', 'data']

/**
 * Generates the walk over the executed actions of a traces payload; null if the protocol's receipts have another
 * layout.
 */
function actionWalk(traces: TypeNode): Walk | null {
  const emitter = new CodeEmitter()
  const transaction = elementOf(traces, 'transactions')
  const kinds = structsOf(transaction, 'transaction_trace')
  if (!kinds.every(({ struct }) => hasKnownReceipts(struct))) return null
  const { minSize, work } = emitter.measures.of(transaction)
  const body = walkStructs(emitter, transaction, 'transaction_trace', (struct) => {
    const action = elementOf(fieldOf(struct, 'action_traces')!.type, 'action traces')
    const measure = emitter.measures.of(action)
    const name = actionFunction(emitter, action)
    return `let status = 0; ${walkFields(emitter, struct, {
      status: () => 'if (p >= e) tooShort(p); status = b[p++];',
      action_traces: (field) => `if (status === ${EXECUTED}) {
          R.at = p; const n = readCount(${measure.minSize}, ${measure.work});
          for (let i = 0; i < n; i++) ${name}(S);
          p = R.at;
        } else { ${emitter.skip(field.type)} }`,
    })}`
  })
  return link(
    emitter,
    `R.at = p; const count = readCount(${minSize}, ${work}); p = R.at;
    for (let tx = 0; tx < count; tx++) { ${body} }
    return p;`,
  )
}

/** Whether receipts and actions of a transaction have exactly the fields that nodes hash, in the hashed order. */
function hasKnownReceipts(transaction: StructNode): boolean {
  const list = fieldOf(transaction, 'action_traces')?.type
  if (list?.kind !== 'array') return false
  return structsOf(list.element, 'action_trace').every(({ struct }) => {
    const receipt = fieldOf(struct, 'receipt')?.type
    const act = fieldOf(struct, 'act')?.type
    return (
      receipt?.kind === 'optional' &&
      structsOf(receipt.inner, 'action_receipt').every((each) => hasOrder(each.struct, receiptFields)) &&
      act !== undefined &&
      structsOf(act, 'action').every((each) => hasOrder(each.struct, actFields))
    )
  })
}

function hasOrder({ fields }: StructNode, names: readonly string[]): boolean {
  return fields.length === names.length && names.every((name, place) => fields[place]?.name === name)
}

/** Emits a function that walks one action trace, and returns its name. */
function actionFunction(emitter: CodeEmitter, action: TypeNode): string {
  const name = emitter.fresh('walkAction')
  const receiptBody = (type: TypeNode) =>
    walkStructs(
      emitter,
      type,
      'action_receipt',
      ({ fields }) => `rs = p; ${emitter.skipFields(fields)} re = p;`,
    )
  const body = walkStructs(emitter, action, 'action_trace', (struct) =>
    walkFields(emitter, struct, {
      receipt: ({ type }) =>
        `if (p >= e) tooShort(p); if (b[p++] !== 0) { ${type.kind === 'optional' ? receiptBody(type.inner) : ''} }`,
      act: ({ type }) =>
        walkStructs(
          emitter,
          type,
          'action',
          ({ fields }) =>
            `as = p; ${emitter.skipFields(fields.slice(0, 3))} am = p; ${emitter.skipFields(fields.slice(3))} ae = p;`,
        ),
      return_value: ({ type }) => `vs = p; ${emitter.skip(type)} ve = p;`,
    }),
  )
  emitter.functions.push(`function ${name}(S) { ${PROLOGUE}
      let rs = -1, re = 0, as = 0, am = 0, ae = 0, vs = 0, ve = 0;
      ${body}
      R.at = p;
      if (rs >= 0) S.push(rs, re, as, am, ae, vs, ve);
    }`)
  return name
}

/** Offset of the action's hash in its receipt, behind the receiver; the global sequence follows the hash. */
const ACT_DIGEST = 8
const SEQUENCE = ACT_DIGEST + DIGEST_BYTES

/** Compares the hash of each action with the hash in its receipt, and hashes the receipts. */
class ActDigests {
  /**
   * Whether the hash of the previous action included its return value. After the activation of the protocol feature
   * ACTION_RETURN_VALUE every hash includes the return value, so the check first tries the variant that matched the
   * previous action.
   */
  #withReturnValue = false
  readonly #digest = Buffer.alloc(DIGEST_BYTES)

  /** Digests of the receipts in order of execution; null if an action does not match its receipt. */
  receipts(bytes: Buffer, items: readonly number[] | null): Buffer | null {
    if (items === null) return null
    const places: { readonly sequence: bigint; readonly at: number }[] = []
    for (let at = 0; at < items.length; at += NUMBERS_OF_ACTION) {
      if (!this.#isOfReceipt(bytes, items.slice(at, at + NUMBERS_OF_ACTION))) return null
      places.push({ sequence: bytes.readBigUInt64LE(items[at]! + SEQUENCE), at })
    }
    places.sort((a, b) => (a.sequence < b.sequence ? -1 : 1))
    const digests = Buffer.alloc(places.length * DIGEST_BYTES)
    for (const [place, { at }] of places.entries())
      writeDigest(bytes.subarray(items[at], items[at + 1]), digests, place * DIGEST_BYTES)
    return digests
  }

  #isOfReceipt(bytes: Buffer, numbers: readonly number[]): boolean {
    const receipt = numbers[0]!
    const expected = bytes.subarray(receipt + ACT_DIGEST, receipt + SEQUENCE)
    if (this.#isHash(bytes, numbers, expected, this.#withReturnValue)) return true
    if (!this.#isHash(bytes, numbers, expected, !this.#withReturnValue)) return false
    this.#withReturnValue = !this.#withReturnValue
    return true
  }

  #isHash(bytes: Buffer, numbers: readonly number[], expected: Buffer, withReturnValue: boolean): boolean {
    const [, , start, data, end, valueStart, valueEnd] = numbers
    if (withReturnValue) {
      const result = Buffer.concat([bytes.subarray(data, end), bytes.subarray(valueStart, valueEnd)])
      const both = hash('sha256', bytes.subarray(start, data), 'binary') + hash('sha256', result, 'binary')
      writeDigest(Buffer.from(both, 'latin1'), this.#digest, 0)
    } else writeDigest(bytes.subarray(start, end), this.#digest, 0)
    return this.#digest.equals(expected)
  }
}

function link(emitter: CodeEmitter, code: string): Walk {
  const main = `function main(S) { ${PROLOGUE} ${code} }`
  return linkCode(`${emitter.functions.join('\n')}\n${main}\nreturn main;`) as Walk
}
