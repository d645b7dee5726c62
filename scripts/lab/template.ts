import {
  actionRoot,
  noAccountChanges,
  packDeltas,
  packTransaction,
  transactionRoot,
  writeTransactionTrace,
} from '../../services/devchain/activity/index.ts'
import type { SignedTransaction } from '../../services/devchain/activity/index.ts'
import { ByteWriter } from '../../services/devchain/bytes/index.ts'
import { nameValue, packAction } from '../../services/devchain/runtime/index.ts'
import type { ActionTrace, PackedAction } from '../../services/devchain/runtime/index.ts'

/** Payloads that all benchmark blocks of a kind share; only the header differs between blocks. */
export interface BlockTemplate {
  /** Bytes after header and signature in a `signed_block`: transactions and extensions. */
  readonly transactions: Buffer
  readonly transactionRoot: Buffer
  readonly actionRoot: Buffer
  readonly traces: Buffer
  readonly deltas: Buffer
}

/** A token that no handler reads. */
const FOREIGN_TOKEN = 'foreigntoken'
const TRANSFERS_PER_BLOCK = 378
const FIRST_SEQUENCE = 9_000_000_000n
const SLOT = 1_700_000_000

/**
 * Template of benchmark blocks with transactions of a foreign token. Each transaction is a transfer with the two
 * notifications of a token contract. 378 transfers give 1,134 action traces, and a blocks result of about 300 kB.
 */
export function foreignTemplate(): BlockTemplate {
  const transactions = new ByteWriter(128 * 1024).varuint(TRANSFERS_PER_BLOCK)
  const traces = new ByteWriter(512 * 1024).varuint(TRANSFERS_PER_BLOCK)
  const pushed: SignedTransaction[] = []
  const actions: ActionTrace[] = []
  for (let index = 0; index < TRANSFERS_PER_BLOCK; index++) {
    const [from, to] = [accountAt(index), accountAt(index + 1)]
    const action = transferAction(from, to, index)
    const frame = { expiresAt: SLOT + index, refNum: 1, refId: Buffer.alloc(32) }
    const transaction = packTransaction(frame, [action], 250)
    pushed.push(transaction)
    transactions.u8(0).u32(250).varuint(transaction.netWords).u8(1).varuint(1)
    transactions.u8(0).raw(transaction.signature!).u8(0).varuint(0).blob(transaction.packed)
    const executed = tracesOf(action, from, to, index)
    actions.push(...executed)
    writeTransactionTrace(traces, transaction, executed)
  }
  return {
    transactions: transactions.varuint(0).copy(),
    transactionRoot: transactionRoot(pushed),
    actionRoot: actionRoot(actions),
    traces: traces.copy(),
    deltas: deltasOf(20),
  }
}

/**
 * Template of benchmark blocks with only the implicit `onblock` transaction. Their blocks result has about 860 bytes.
 */
export function emptyTemplate(): BlockTemplate {
  const data = Buffer.alloc(116)
  const action = packAction({ account: 'eosio', name: 'onblock', actors: ['eosio'], data })
  const transaction = { ...packTransaction(emptyFrame, [action], 100), signature: null, netWords: 0 }
  const traces = new ByteWriter().varuint(1)
  const actions = [traceOf(action, { ordinal: 1, creator: 0, receiver: 'eosio' }, FIRST_SEQUENCE)]
  writeTransactionTrace(traces, transaction, actions)
  return {
    transactions: Buffer.alloc(2),
    transactionRoot: transactionRoot([]),
    actionRoot: actionRoot(actions),
    traces: traces.copy(),
    deltas: deltasOf(1),
  }
}

const emptyFrame = { expiresAt: 0, refNum: 0, refId: Buffer.alloc(32) }

function transferAction(from: string, to: string, index: number): PackedAction {
  const data = new ByteWriter(64).u64(nameValue(from)).u64(nameValue(to))
  // Symbol `4,FOR`: precision, then letters.
  data
    .i64(BigInt(index + 1))
    .u8(4)
    .raw(Buffer.from('FOR\0\0\0\0'))
    .text('')
  return packAction({ account: FOREIGN_TOKEN, name: 'transfer', actors: [from], data: data.copy() })
}

function tracesOf(action: PackedAction, from: string, to: string, index: number): ActionTrace[] {
  const sequence = FIRST_SEQUENCE + BigInt(index * 3)
  return [
    traceOf(action, { ordinal: 1, creator: 0, receiver: FOREIGN_TOKEN }, sequence),
    traceOf(action, { ordinal: 2, creator: 1, receiver: from }, sequence + 1n),
    traceOf(action, { ordinal: 3, creator: 1, receiver: to }, sequence + 2n),
  ]
}

function traceOf(
  action: PackedAction,
  place: Pick<ActionTrace, 'ordinal' | 'creator' | 'receiver'>,
  global: bigint,
): ActionTrace {
  const auth = action.actors.map((actor) => ({ actor, sequence: global }))
  const receipt = { global, recv: global, auth, code: 1, abi: 1 }
  return { ...place, action, receipt, ramDeltas: new Map() }
}

function deltasOf(accounts: number): Buffer {
  const usage = new Map(Array.from({ length: accounts }, (_, index) => [nameValue(accountAt(index)), 4000n]))
  const rows = { created: new Map(), modified: new Map(), removed: [] }
  return packDeltas({
    num: 1,
    slot: SLOT,
    timeUs: 0n,
    rows,
    accounts: noAccountChanges,
    usage,
    transactions: accounts,
  })
}

function accountAt(index: number): string {
  const letters = 'abcdefghijklmnopqrst'
  return `holder${letters[index % 20]!}${letters[Math.floor(index / 20) % 20]!}`
}
