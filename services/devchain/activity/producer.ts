import { ByteWriter } from '../bytes/index.ts'
import { slotToMs } from '../chain/index.ts'
import type { Chain, ChainBlock } from '../chain/index.ts'
import { nameValue, packAction, Runtime, sha256 } from '../runtime/index.ts'
import { SYSTEM_ACCOUNT } from '../contracts/system.ts'
import type { ActionInput, ActionTrace } from '../runtime/index.ts'
import { contractsFor } from './contracts.ts'
import { Directory } from './directory.ts'
import { headerOf, packBlock } from './pack-block.ts'
import { packDeltas } from './pack-deltas.ts'
import { writeExpiredTrace, writeTransactionTrace } from './pack-traces.ts'
import { packOnBlock, packTransaction } from './pack-transaction.ts'
import type { SignedTransaction } from './pack-transaction.ts'
import { everydayMix, nextTransaction } from './planner.ts'
import { deploySecondMarket } from './market-setup-plans.ts'
import type { ActivityMix } from './planner.ts'
import { Random } from './random.ts'
import { ACCOUNT_SUFFIX } from './wording.ts'
import type { World } from './world.ts'

export interface ProducerOptions {
  readonly seed: number
  /** Average number of user actions per block. */
  readonly rate: number
  readonly mix?: ActivityMix
}

/** Content of a block in addition to random activity. */
export interface BlockContent {
  /** Average number of user actions in the block; default: the producer's rate. */
  readonly rate?: number
  /** Transactions that come before the random transactions. */
  readonly transactions?: readonly (readonly ActionInput[])[]
  /** Whether the block deploys the second market version, unless the chain has it already. */
  readonly deploysSecondMarket?: boolean
  /** Number of traces of expired transactions at the end of the block. These traces contain no actions. */
  readonly expiredTraces?: number
}

/** A block that is being built. */
interface Draft {
  readonly num: number
  readonly slot: number
  readonly transactions: SignedTransaction[]
  readonly traces: ByteWriter
  readonly actions: ActionTrace[]
  readonly payers: Set<bigint>
  count: number
}

/** Lifetime of a transaction, seconds. */
const LIFETIME_SECONDS = 100

/**
 * Produces blocks with generated activity at the head of a chain. The content of a block is determined by the seed,
 * the block number, the time slot, the branch number and the preceding chain.
 */
export class Producer {
  readonly #chain: Chain
  readonly #options: ProducerOptions
  readonly #runtime: Runtime
  readonly #directory: Directory
  readonly #traces = new ByteWriter(64 * 1024)
  #created: bigint[] = []
  #changed = new Set<bigint>()
  #codes = new Map<bigint, Buffer>()
  #slot = 0

  /** Reads accounts, collections and assets from `chain` once. The chain must already contain the contracts. */
  constructor(chain: Chain, options: ProducerOptions) {
    this.#chain = chain
    this.#options = options
    const contracts = contractsFor(() => this.#directory, {
      created: (name) => this.#addAccount(name),
      codeSet: (name, code) => this.#setCode(nameValue(name), code),
      abiSet: (name, abi) => this.#setAbi(nameValue(name), abi),
    })
    this.#runtime = new Runtime(chain.state, contracts)
    this.#directory = new Directory(this.#runtime)
  }

  /**
   * Creates an action of one actor, packed by the ABI in force.
   * @throws FatalError RECORDING_INVALID if the account has no ABI.
   */
  action(account: string, name: string, actor: string, data: Readonly<Record<string, unknown>>): ActionInput {
    return this.#runtime.action(account, name, [actor], data)
  }

  /** Produces the next block at `slot`, as the new head. `branch` makes forks of the same height differ. */
  produce(slot: number, branch: number, content: BlockContent = {}): ChainBlock {
    const { state, head } = this.#chain
    const num = head.num + 1
    state.journal.begin(num)
    state.rows.collectChanges()
    this.#created = []
    this.#changed = new Set()
    this.#codes = new Map()
    this.#slot = slot
    this.#runtime.nowMs = slotToMs(slot)
    const random = new Random(`${this.#options.seed}:${num}:${branch}`)
    const draft: Draft = {
      num,
      slot,
      transactions: [],
      traces: this.#traces.clear(),
      actions: [],
      payers: new Set([nameValue(SYSTEM_ACCOUNT)]),
      count: 0,
    }
    this.#runOnBlock(draft)
    for (const actions of content.transactions ?? []) this.#push(draft, actions, random)
    const world = { runtime: this.#runtime, directory: this.#directory, random }
    const deployment = content.deploysSecondMarket === true ? deploySecondMarket(world) : null
    if (deployment !== null) this.#push(draft, deployment, random)
    this.#runUsers(draft, world, content.rate ?? this.#options.rate)
    for (let added = 0; added < (content.expiredTraces ?? 0); added++) writeExpiredTrace(draft.traces, added)
    draft.count += content.expiredTraces ?? 0
    const block = this.#finish(draft)
    this.#chain.append(block)
    return block
  }

  #runOnBlock(draft: Draft): void {
    const previous = this.#chain.at(this.#chain.head.num)?.block
    const data = previous ? headerOf(previous) : Buffer.alloc(0)
    const action = packAction({ account: SYSTEM_ACCOUNT, name: 'onblock', actors: [SYSTEM_ACCOUNT], data })
    this.#write(draft, packOnBlock(action), this.#runtime.execute([action]))
  }

  #runUsers(draft: Draft, world: World, rate: number): void {
    const { random } = world
    // The number of actions is uniform between zero and twice the rate: blocks differ, and the average is the rate.
    let left = random.fraction() * 2 * rate
    while (left >= 1 || random.chance(left)) {
      const actions = nextTransaction(world, this.#options.mix ?? everydayMix)
      if (actions === null) return
      this.#push(draft, actions, random)
      left = Math.max(0, left - actions.length)
      if (left === 0) return
    }
  }

  #push(draft: Draft, planned: readonly ActionInput[], random: Random): void {
    const actions = planned.map(packAction)
    const { head } = this.#chain
    const frame = {
      // A different expiration for each transaction of a block: equal transactions would have equal ids.
      expiresAt: this.#runtime.nowSeconds + LIFETIME_SECONDS + draft.count,
      refNum: head.num,
      refId: head.id,
    }
    const transaction = packTransaction(frame, actions, random.between(180, 900))
    this.#write(draft, transaction, this.#runtime.execute(actions))
    draft.transactions.push(transaction)
    for (const action of actions) for (const actor of action.actors) draft.payers.add(nameValue(actor))
  }

  #write(draft: Draft, transaction: SignedTransaction, traces: readonly ActionTrace[]): void {
    writeTransactionTrace(draft.traces, transaction, traces)
    for (const trace of traces) {
      draft.actions.push(trace)
      for (const payer of trace.ramDeltas.keys()) draft.payers.add(nameValue(payer))
    }
    draft.count++
  }

  #finish(draft: Draft): ChainBlock {
    const { state, head } = this.#chain
    const { num, slot, transactions, actions } = draft
    const packed = packBlock({ num, slot, previousId: head.id, transactions, actions })
    const traces = new ByteWriter(draft.traces.length + 5)
      .varuint(draft.count)
      .raw(draft.traces.copy())
      .copy()
    const deltas = packDeltas({
      num,
      slot,
      timeUs: BigInt(slotToMs(slot)) * 1000n,
      rows: state.rows.takeChanges(),
      accounts: {
        created: this.#created,
        rows: new Map([...this.#changed].map((name) => [name, state.accounts.get(name)!])),
        codes: this.#codes,
      },
      usage: new Map([...draft.payers].map((name) => [name, state.ramBytes.get(name) ?? 0n])),
      transactions: transactions.length,
    })
    const prevId = head.num === 0 ? null : head.id
    return { num, id: packed.id, prevId, block: packed.bytes, traces, deltas }
  }

  #addAccount(text: string): void {
    const { state } = this.#chain
    const name = nameValue(text)
    state.set(state.accounts, name, {
      name,
      creationSlot: this.#slot,
      abi: Buffer.alloc(0),
      codeHash: null,
    })
    this.#created.push(name)
    this.#changed.add(name)
    if (text.endsWith(ACCOUNT_SUFFIX)) this.#directory.add(this.#directory.people, text)
  }

  #setCode(name: bigint, code: Buffer): void {
    const { state } = this.#chain
    const { accounts, sequences } = state
    state.set(accounts, name, { ...accounts.get(name)!, codeHash: sha256(code) })
    state.set(sequences.code, name, (sequences.code.get(name) ?? 0) + 1)
    this.#codes.set(name, code)
  }

  #setAbi(name: bigint, abi: Buffer): void {
    this.#runtime.abis.keep(name)
    const { state } = this.#chain
    const { accounts, sequences } = state
    state.set(accounts, name, { ...accounts.get(name)!, abi })
    state.set(sequences.abi, name, (sequences.abi.get(name) ?? 0) + 1)
    this.#changed.add(name)
  }
}
