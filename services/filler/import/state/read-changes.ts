import { assetsTables, chainTables, marketTables } from '../../../core/model/tables/index.ts'
import { normalizeAbiJson } from '../../../core/antelope/abi/index.ts'
import { FatalError, PronghornError } from '../../../core/errors/index.ts'
import type { Logger } from '../../../core/log/index.ts'
import { compileProtocol } from '../../decode/index.ts'
import type { Protocol } from '../../decode/index.ts'
import type { Handler, StateWriter } from '../../handlers/index.ts'
import { BlockApplier } from '../../pipeline/index.ts'
import type { ReaderSettings } from '../../pipeline/index.ts'
import { createShipSession } from '../../ship/index.ts'
import type { NodeSettings, ResumePosition, ShipBlock, ShipConsumer, ShipSession } from '../../ship/index.ts'
import { CommitUnit } from '../../store/index.ts'
import type { Store, UnitBlock } from '../../store/index.ts'
import { signed } from './contract-tables.ts'
import type { ContractTable } from './contract-tables.ts'
import { encodeRow, operationsOf } from './operations.ts'

/**
 * Maximum number of unacknowledged blocks that the node may send. The blocks stay in memory until they are committed.
 */
const PREFETCH_BLOCKS = 200

/**
 * Tables whose rows each commit writes immediately; for other tables the commit stages the changes. The handlers load
 * their state from these tables. A resumed import therefore starts with the state at the last committed block, which
 * includes each contract upgrade that the interrupted run had read.
 */
const writtenAtOnce: ReadonlySet<string> = new Set(
  [
    chainTables.abis,
    chainTables.codeAccounts,
    assetsTables.config,
    assetsTables.tokens,
    marketTables.config,
    marketTables.tokens,
    marketTables.symbolPairs,
  ].map(({ name }) => name),
)

export interface ChangeReading {
  readonly store: Store
  readonly handlers: readonly Handler[]
  readonly tables: readonly ContractTable[]
  readonly settings: ReaderSettings
  readonly chain: { readonly chainId: string; readonly ship: readonly (string | NodeSettings)[] }
  readonly logger: Logger
  /** Last block whose changes have been read; reading starts at the next block. */
  readonly from: UnitBlock
  readonly to: number
  readonly signal: AbortSignal
  readonly onBlock: (block: number) => void
}

/** A contract row at the end of a block. A removed row has its last value before the removal. */
interface Change {
  readonly stage: string
  readonly scope: string
  readonly primaryKey: bigint
  readonly block: number
  readonly isPresent: boolean
  readonly value: Uint8Array
}

/**
 * Reads the irreversible blocks after `from`, up to `to`. Stages the contract rows that changed, and the column values
 * that actions gave to rows. Writes rows of append-only tables, such as logs and transfers, to the final tables.
 *
 * @returns the last block that was read.
 */
export async function readChanges(reading: ChangeReading): Promise<UnitBlock> {
  if (reading.from.num >= reading.to) return reading.from
  const consumer = new ChangeConsumer(reading)
  await consumer.run()
  return consumer.last
}

class ChangeConsumer implements ShipConsumer<Protocol> {
  last: UnitBlock
  readonly #reading: ChangeReading
  readonly #changes = new Map<string, Change>()
  readonly #applier: BlockApplier
  readonly #failing = new AbortController()
  readonly #stages: ReadonlyMap<string, string>
  #session: ShipSession | null = null
  #unit = new CommitUnit(false)
  #blocks: UnitBlock[] = []
  #heldBytes = 0
  #applied: UnitBlock
  #committing: Promise<void> | null = null
  #failure: unknown

  constructor(reading: ChangeReading) {
    this.#reading = reading
    this.last = reading.from
    this.#applied = reading.from
    this.#stages = new Map(
      reading.tables.map(({ contract, table, stage }) => [`${contract} ${table}`, stage]),
    )
    const { settings, handlers, logger } = reading
    // Leave the oracle handler out. The table `oracle.pairs` is empty until `writeRows` runs, so the handler would warn
    // that each pair is unknown.
    const applied = handlers.filter(({ family }) => family !== 'oracle')
    this.#applier = new BlockApplier(settings.name, applied, [this.#stateWriter()], logger)
  }

  async run(): Promise<void> {
    const { store, settings, chain, logger, from, to, signal } = this.#reading
    await this.#applier.reload((text, values) => store.query(text, values), from.num, from.timeMs)
    const session = createShipSession<Protocol>(
      {
        urls: chain.ship,
        chainId: chain.chainId,
        startBlock: from.num + 1,
        stopBlock: to,
        irreversibleOnly: true,
        prefetchBlocks: PREFETCH_BLOCKS,
        minBlockConfirmation: settings.ship_min_block_confirmation,
        ...(settings.ship_max_message_bytes === undefined
          ? {}
          : { maxMessageBytes: settings.ship_max_message_bytes }),
        checkBlocks: true,
        compileProtocol: (abi) => compileProtocol(normalizeAbiJson(abi)),
        logger,
      },
      this,
    )
    this.#session = session
    try {
      await session.run(AbortSignal.any([signal, this.#failing.signal]))
    } catch (error) {
      this.#failure ??= error
    } finally {
      await this.#committing
    }
    if (this.#failure !== undefined)
      throw this.#failure instanceof PronghornError
        ? this.#failure
        : new FatalError('INTERNAL', 'the blocks since the start of the import could not be read', {
            cause: this.#failure,
          })
    signal.throwIfAborted()
  }

  resumePosition(): ResumePosition {
    const lastApplied = { num: this.#applied.num, id: Buffer.from(this.#applied.id).toString('hex') }
    return { lastApplied, havePositions: [lastApplied], irreversibleFloor: lastApplied.num }
  }

  onProtocol(protocol: Protocol): void {
    this.#applier.useProtocol(protocol)
  }

  onBlock(block: ShipBlock): void {
    const { timeMs } = this.#applier.apply(block, this.#unit)
    this.#applied = { num: block.num, id: Uint8Array.from(block.idBytes), timeMs }
    this.#blocks.push(this.#applied)
    this.#heldBytes += block.bytes
    this.#commit()
  }

  onFork(from: number): void {
    throw new FatalError(
      'FORK_BELOW_IRREVERSIBLE',
      `the chain forked at block ${from}, which the node had reported as irreversible`,
    )
  }

  /**
   * Creates a state history writer that writes no history tables. Instead, the writer stages the packed bytes of each
   * changed row of the indexed contracts.
   */
  #stateWriter(): StateWriter {
    return {
      family: 'import',
      account: '',
      tables: [],
      accounts: this.#reading.handlers.map(({ account }) => account),
      permissions: false,
      load: () => Promise.resolve(null),
      hasBegun: () => true,
      open: ({ num }) => ({
        row: (row) => {
          const stage = this.#stages.get(`${row.code} ${row.table}`)
          if (stage === undefined) return
          const change: Change = {
            stage,
            scope: row.scope,
            primaryKey: signed(row.primaryKey()),
            block: num,
            isPresent: row.present,
            value: Uint8Array.from(row.value),
          }
          this.#changes.set(`${stage} ${change.scope} ${change.primaryKey}`, change)
        },
        permission: () => undefined,
        link: () => undefined,
        end: () => null,
      }),
    }
  }

  /**
   * Commits the applied blocks, unless a commit is running. A commit that ends calls `#commit` for the blocks that were
   * applied meanwhile.
   */
  #commit(): void {
    if (this.#committing !== null || this.#blocks.length === 0) return
    const unit = this.#unit
    const blocks = this.#blocks
    const bytes = this.#heldBytes
    const changes = [...this.#changes.values()]
    this.#unit = new CommitUnit(false)
    this.#blocks = []
    this.#heldBytes = 0
    this.#changes.clear()
    this.#committing = this.#write(unit, blocks, changes).then(
      () => {
        this.#committing = null
        this.last = blocks.at(-1)!
        this.#reading.onBlock(this.last.num)
        this.#session?.release(blocks.length, bytes)
        this.#commit()
      },
      (error: unknown) => {
        this.#failure ??= error
        this.#failing.abort()
      },
    )
  }

  #write(unit: CommitUnit, blocks: readonly UnitBlock[], changes: readonly Change[]): Promise<void> {
    const remaining = new CommitUnit(false)
    for (const [table, pending] of unit.tables)
      if (table.kind === 'append' || writtenAtOnce.has(table.name)) remaining.tables.set(table, pending)
    const operations = operationsOf(unit)
    return this.#reading.store.load(remaining, blocks.at(-1)!.timeMs, async (statements) => {
      await statements.run(
        'INSERT INTO import.blocks (num, id, time_ms) SELECT * FROM unnest($1::integer[], $2::bytea[], $3::bigint[])',
        [blocks.map(({ num }) => num), blocks.map(({ id }) => id), blocks.map(({ timeMs }) => timeMs)],
      )
      if (changes.length > 0)
        await statements.run(
          `INSERT INTO import.changes AS c (stage, scope, primary_key, block_num, is_present, value)
           SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::boolean[], $6::bytea[])
           ON CONFLICT (stage, primary_key, scope) DO UPDATE
           SET block_num = EXCLUDED.block_num, is_present = EXCLUDED.is_present, value = EXCLUDED.value`,
          [
            changes.map(({ stage }) => stage),
            changes.map(({ scope }) => scope),
            changes.map(({ primaryKey }) => primaryKey),
            changes.map(({ block }) => block),
            changes.map(({ isPresent }) => isPresent),
            changes.map(({ value }) => value),
          ],
        )
      if (operations.length > 0)
        await statements.run(
          `INSERT INTO import.operations AS o (name, key, row, is_whole)
           SELECT * FROM unnest($1::text[], $2::bigint[], $3::jsonb[], $4::boolean[])
           ON CONFLICT (name, key) DO UPDATE
           SET row = o.row || EXCLUDED.row, is_whole = o.is_whole OR EXCLUDED.is_whole`,
          [
            operations.map(({ name }) => name),
            operations.map(({ key }) => key),
            operations.map(({ row }) => encodeRow(row)),
            operations.map(({ isWhole }) => isWhole),
          ],
        )
    })
  }
}
