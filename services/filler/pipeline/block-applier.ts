import { nameToString } from '../../core/antelope/index.ts'
import { AbiError, DecodeError } from '../../core/bytes/index.ts'
import { FatalError, PronghornError, describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { DeltaSink, Protocol, ScannedAction, ScannedRow } from '../decode/index.ts'
import { createWatchSet } from '../decode/index.ts'
import type { BlockCapture, BlockEvents } from '../feed/index.ts'
import type {
  BlockInfo,
  BlockScope,
  Handler,
  StateWriter,
  StateWriterScope,
  Query,
  RowEvent,
} from '../handlers/index.ts'
import type { ShipBlock } from '../ship/index.ts'
import type { CommitUnit } from '../store/index.ts'
import { AccountChanges } from './account-changes.ts'
import { ContractDecoder } from './contract-decoder.ts'
import { describeAction, describePlace } from './fault-place.ts'
import type { Place } from './fault-place.ts'

/** A contract and the handler that indexes it. */
interface Contract {
  readonly handler: Handler
  readonly decoder: ContractDecoder
  state: unknown
}

/** A state history writer and its state. */
interface ActiveWriter {
  readonly stateWriter: StateWriter
  readonly accounts: ReadonlySet<string>
  state: unknown
}

/** Result of applying a block. */
export interface AppliedBlock {
  /** Time of the block, epoch milliseconds. */
  readonly timeMs: number
  /** Published events of the block; null if there are none. */
  readonly events: BlockEvents | null
}

/**
 * Selects the ABIs of an account up to a block. Skips an ABI that another reader stored from a block of a different
 * branch.
 */
const ABIS = `SELECT a.abi FROM chain.abis a WHERE a.account = $1 AND a.block_num <= $2 AND NOT EXISTS (
    SELECT FROM chain.reversible_blocks b JOIN chain.reversible_blocks c USING (block_num)
    WHERE b.reader = $3 AND c.reader = a.reader AND b.block_num = a.block_num AND b.block_id <> c.block_id)
  ORDER BY a.block_num`

/** Counts of data that the applier skipped; for metrics and health. */
export interface ApplierCounters {
  /**
   * Actions whose data does not fit the ABI. Users can send such actions, and an account can set an ABI that does not
   * fit its code.
   */
  undecodableActions: number
  /** Number of rows whose table a handler reads but the ABI in force does not define. */
  unknownTables: number
}

/**
 * Turns blocks into row operations: decodes actions and rows, and passes them to the handlers in the chain's order.
 * Contains the handlers' state and the ABIs in force; `reload` resets both to the committed position.
 */
export class BlockApplier {
  readonly counters: ApplierCounters = { undecodableActions: 0, unknownTables: 0 }
  #protocol: Protocol | null = null
  readonly #reader: string
  readonly #logger: Logger
  readonly #contracts = new Map<string, Contract>()
  readonly #writers: ActiveWriter[]
  readonly #watch: ReturnType<typeof createWatchSet>
  /** Contracts whose rows are decoded, for handlers or for state history writers. */
  readonly #rowWatch: ReturnType<typeof createWatchSet>
  /**
   * ABIs from the chain's HTTP interface or from later blocks, by account. `reload` uses them before the stored ABIs.
   */
  readonly #assumedAbis = new Map<string, Uint8Array>()
  /** Reason why the ABI of an account is unknown, by account. */
  readonly #missingAbis = new Map<string, string>()
  readonly #warned = new Set<string>()
  #lastTimeMs = 0

  constructor(
    reader: string,
    handlers: readonly Handler[],
    stateWriters: readonly StateWriter[],
    logger: Logger,
  ) {
    this.#reader = reader
    this.#logger = logger
    this.#watch = createWatchSet(handlers.map((handler) => handler.account))
    this.#writers = stateWriters.map((stateWriter) => ({
      stateWriter,
      accounts: new Set(stateWriter.accounts),
      state: null,
    }))
    this.#rowWatch = createWatchSet([
      ...this.#watch.accounts,
      ...stateWriters.flatMap((stateWriter) => stateWriter.accounts),
    ])
    for (const handler of handlers)
      this.#contracts.set(handler.account, { handler, decoder: createDecoder(handler), state: null })
  }

  /** Sets the protocol of a new connection, with which later blocks are decoded. */
  useProtocol(protocol: Protocol): void {
    this.#protocol = protocol
  }

  /** Contracts whose ABI is not known yet. */
  get accountsWithoutAbi(): string[] {
    return [...this.#contracts.values()]
      .filter(({ decoder }) => !decoder.hasAbi)
      .map(({ decoder }) => decoder.account)
  }

  /** Sets an ABI that did not come from the stream. The ABI counts as older than every stored ABI of the account. */
  assumeAbi(account: string, abi: Uint8Array): void {
    this.#assumedAbis.set(account, abi)
    this.#contracts.get(account)?.decoder.setAbi(abi)
  }

  /** Stores the reason why the ABI of an account is unknown, for the error of a block that needs the ABI. */
  noteMissingAbi(account: string, why: string): void {
    this.#missingAbis.set(account, why)
  }

  /** Loads the handlers' state from the database, and the ABIs that are in force at the end of block `block`. */
  async reload(query: Query, block: number, lastTimeMs: number): Promise<void> {
    this.#lastTimeMs = lastTimeMs
    for (const contract of this.#contracts.values()) {
      const decoder = createDecoder(contract.handler)
      const assumed = this.#assumedAbis.get(decoder.account)
      if (assumed) decoder.setAbi(assumed)
      const rows = await query<{ abi: Buffer }>(ABIS, [decoder.account, block, this.#reader])
      for (const { abi } of rows) decoder.setAbi(abi)
      this.#contracts.set(decoder.account, {
        handler: contract.handler,
        decoder,
        state: await contract.handler.load(query),
      })
    }
    for (const active of this.#writers) active.state = await active.stateWriter.load(query)
  }

  /**
   * Applies a block: adds its row operations to the unit.
   *
   * @param capture collects the published events of the block; null without publishing.
   * @throws FatalError `BLOCK_FAILED` that names the block, the transaction, the action or table, and the cause;
   * `SHIP_BLOCK_UNREADABLE` that names the node whose payload does not fit its protocol; `CONTRACT_ABI_MISSING`.
   */
  apply(block: ShipBlock, unit: CommitUnit, capture: BlockCapture | null = null): AppliedBlock {
    // The action, row or stage in progress; only read for error messages.
    let place: Place = 'header'
    try {
      const protocol = this.#protocol
      if (!protocol) throw new FatalError('INTERNAL', 'a block arrived before the protocol ABI')
      // A node that has pruned the block sends no block header, so the block time is unknown. Assume the block
      // interval, 500 ms, after the previous block.
      const timeMs = block.header ? protocol.readBlockTimeMs(block.header) : this.#lastTimeMs + 500
      this.#lastTimeMs = timeMs
      const info: BlockInfo = { num: block.num, timeMs }
      const scopes = new Map<string, BlockScope<unknown>>()
      const stateWriters = this.#openStateWriters(block, info, unit)
      const accounts = new AccountChanges(this.#reader, block.num, unit)
      const open: OpenBlock = { info, scopes, accounts, unit, capture }
      if (block.traces) {
        place = 'traces'
        for (const action of protocol.collectActions(block.traces, this.#watch)) {
          place = action
          this.#applyAction(action, open)
        }
      }
      if (block.deltas) {
        place = 'deltas'
        protocol.scanDeltas(block.deltas, this.#rowWatch, {
          row: (row) => {
            place = row
            this.#writeStateRow(row, stateWriters)
            this.#applyRow(row, open)
            place = 'deltas'
          },
          ...this.#permissionSink(protocol, stateWriters),
          account: (name, abi) => {
            accounts.abiDelta(name, abi)
            this.#contractAbi(name, abi, block.num)
          },
          accountMetadata: (name, hasCode) => accounts.metadataDelta(name, hasCode),
        })
      }
      place = 'end of block'
      for (const [account, scope] of scopes) this.#contracts.get(account)!.state = scope.end()
      for (const { active, scope } of stateWriters) active.state = scope.end()
      accounts.end()
      return { timeMs, events: capture?.end(protocol, block, timeMs) ?? null }
    } catch (error) {
      if (error instanceof PronghornError && error.code === 'CONTRACT_ABI_MISSING') throw error
      if (error instanceof DecodeError && payloadPlaces.has(place))
        throw payloadUnreadable(block, place, error)
      throw new FatalError(
        'BLOCK_FAILED',
        `block ${block.num} (${block.id}), ${describePlace(place)}: ${describeError(error)}`,
        {
          cause: error,
          details: {
            block: block.num,
            start: block.num + 1,
            ...(error instanceof PronghornError ? { code: error.code } : {}),
          },
        },
      )
    }
  }

  #abiMissing(account: string, { num }: BlockInfo): FatalError {
    const why = this.#missingAbis.get(account) ?? `no ABI of ${account} is known`
    return new FatalError('CONTRACT_ABI_MISSING', `${why}, but block ${num} needs this ABI`, {
      details: { block: num },
    })
  }

  #openStateWriters(block: ShipBlock, info: BlockInfo, unit: CommitUnit): OpenStateWriter[] {
    if (this.#writers.length === 0) return []
    const head = Math.max(block.head.num, block.num)
    const irreversible = Math.min(block.lib.num, block.num)
    const writerBlock = { ...info, id: block.idBytes, head, irreversible }
    return this.#writers.map((active) => ({
      active,
      scope: active.stateWriter.open(writerBlock, active.state, unit),
    }))
  }

  #writeStateRow(row: ScannedRow, stateWriters: readonly OpenStateWriter[]): void {
    for (const { active, scope } of stateWriters) if (active.accounts.has(row.code)) scope.row(row)
  }

  /**
   * Returns the callbacks for permission rows; none if no state history writer stores permissions. Without callbacks
   * permission rows are not decoded.
   */
  #permissionSink(
    protocol: Protocol,
    stateWriters: readonly OpenStateWriter[],
  ): Pick<DeltaSink, 'permission' | 'permissionLink'> {
    const wanting = stateWriters.filter(({ active }) => active.stateWriter.permissions)
    if (wanting.length === 0) return {}
    return {
      permission: (present, bytes) => {
        const row = protocol.readPermission(bytes)
        for (const { scope } of wanting) scope.permission(present, row)
      },
      permissionLink: (present, bytes) => {
        const row = protocol.readPermissionLink(bytes)
        for (const { scope } of wanting) scope.link(present, row)
      },
    }
  }

  #applyAction(action: ScannedAction, open: OpenBlock): void {
    const { info, accounts, capture } = open
    const account = nameToString(action.accountLo, action.accountHi)
    const contract = this.#contracts.get(account)
    if (!contract) {
      // The trace walker reports the actions of the accounts in `#watch`, and every `eosio::setabi`. An account without
      // contract is not in `#watch`, so the action is a `setabi`.
      const set = accounts.setAbiAction(action.payload, action.dataStart, action.dataEnd)
      if (set) this.#contractAbi(set.account, set.abi, info.num)
      return
    }
    const name = nameToString(action.nameLo, action.nameHi)
    capture?.own(action, contract.decoder.wholeActions)
    if (!contract.decoder.wantsAction(name)) return
    // Only the contract itself may send its log actions. Old contract code accepts an unknown action from any account,
    // so any account can send a forged log action.
    if (name.startsWith('log') && !action.isSentByContract()) return
    const data = this.#decodeAction(contract, name, action, info)
    if (data === undefined) return
    this.#scope(contract, open).action({
      seq: action.globalSequence,
      txIndex: action.txIndex,
      txid: action.txid,
      ordinal: action.actionOrdinal,
      creatorOrdinal: action.creatorActionOrdinal,
      name,
      data,
      packed: action.payload.subarray(action.dataStart, action.dataEnd),
      actors: () => action.actors(),
    })
    capture?.add(contract.handler.family, name, action, data)
  }

  /**
   * Decodes an action. An action that does not fit its ABI is counted and skipped; the first such action of each name
   * is logged.
   *
   * @throws RangeError if a log action of the contract has a number that does not fit its column.
   */
  #decodeAction(contract: Contract, name: string, action: ScannedAction, info: BlockInfo): unknown {
    if (!contract.decoder.hasAbi) throw this.#abiMissing(contract.decoder.account, info)
    try {
      return contract.decoder.decodeAction(name, action.payload, action.dataStart, action.dataEnd)
    } catch (error) {
      const isMisfit = error instanceof DecodeError || error instanceof AbiError
      // Users can send any number in an action, so an action of a user with a number that does not fit its column is
      // skipped. The numbers of a log action come from the contract itself, so such a number in a log action is an
      // error.
      if (name.startsWith('log') && !isMisfit) throw error
      this.counters.undecodableActions++
      this.#warnOnce(
        info,
        `action ${contract.decoder.account}::${name} does not fit its ABI and is skipped; further actions of this name are skipped without a message`,
        `${describeAction(action)}: ${describeError(error)}`,
      )
      return undefined
    }
  }

  #applyRow(row: ScannedRow, open: OpenBlock): void {
    const contract = this.#contracts.get(nameToString(row.codeLo, row.codeHi))
    const table = nameToString(row.tableLo, row.tableHi)
    if (!contract?.decoder.wantsRow(table)) return
    if (!contract.decoder.hasAbi) throw this.#abiMissing(contract.decoder.account, open.info)
    if (!contract.decoder.namesRow(table)) {
      this.counters.unknownTables++
      this.#warnOnce(
        open.info,
        `table ${table} of ${contract.decoder.account} is not in the ABI of the contract`,
      )
      return
    }
    this.#scope(contract, open).row(new AppliedRow(table, row, contract.decoder))
  }

  #scope(contract: Contract, { info, scopes, unit }: OpenBlock): BlockScope<unknown> {
    const account = contract.decoder.account
    let scope = scopes.get(account)
    if (!scope) {
      scope = contract.handler.open(info, contract.state, unit, (message) => this.#warnOnce(info, message))
      scopes.set(account, scope)
    }
    return scope
  }

  #contractAbi(account: string, abi: Uint8Array, block: number): void {
    const problem = this.#contracts.get(account)?.decoder.setAbi(abi)
    if (problem)
      this.#logger.error(
        { block, account, problem },
        'the contract set an unusable ABI; the previous one stays in force',
      )
  }

  #warnOnce(info: BlockInfo, message: string, cause?: string): void {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.#logger.warn({ block: info.num, ...(cause === undefined ? {} : { cause }) }, message)
  }
}

/**
 * Parts of a block in which a `DecodeError` means that the payload is damaged. In other parts a `DecodeError` means
 * that contract data does not fit its ABI.
 */
const payloadPlaces: ReadonlySet<Place> = new Set(['header', 'traces', 'deltas'])

function payloadUnreadable({ num, node }: ShipBlock, place: Place, cause: DecodeError): FatalError {
  const message = `the ${describePlace(place)} of block ${num} from ${node} cannot be read`
  return new FatalError('SHIP_BLOCK_UNREADABLE', message, {
    cause,
    details: { block_num: num, start: num + 1 },
  })
}

/** State of the block that is being applied. */
interface OpenBlock {
  readonly info: BlockInfo
  /** Handler scopes opened for this block, by account. */
  readonly scopes: Map<string, BlockScope<unknown>>
  readonly accounts: AccountChanges
  readonly unit: CommitUnit
  readonly capture: BlockCapture | null
}

/** A state history writer and the `StateWriterScope` that it has opened for the current block. */
interface OpenStateWriter {
  readonly active: ActiveWriter
  readonly scope: StateWriterScope<unknown>
}

/** A contract row that the block changed; decoded when the handler of the contract reads the row. */
class AppliedRow implements RowEvent {
  readonly table: string
  readonly present: boolean
  readonly #row: ScannedRow
  readonly #decoder: ContractDecoder

  constructor(table: string, row: ScannedRow, decoder: ContractDecoder) {
    this.table = table
    this.present = row.present
    this.#row = row
    this.#decoder = decoder
  }

  scope(): string {
    return this.#row.scope
  }

  primaryKey(): bigint {
    return this.#row.primaryKey()
  }

  value(): unknown {
    return this.#decoder.decodeRow(this.table, this.#row.payload, this.#row.valueStart, this.#row.valueEnd)
  }
}

function createDecoder(handler: Handler): ContractDecoder {
  return new ContractDecoder(handler.account, handler.actions, handler.rows)
}
