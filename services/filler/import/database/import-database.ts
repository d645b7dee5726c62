import type { NodeBlock } from '../../../core/chain-node/index.ts'
import type { DatabaseAddress } from '../../../core/database/index.ts'
import { describeError, FatalError } from '../../../core/errors/index.ts'
import type { Handler } from '../../handlers/index.ts'
import { CommitUnit } from '../../store/index.ts'
import type { Store } from '../../store/index.ts'
import type { Table } from '../../../core/model/index.ts'
import { beginImport, finishImport, loadStep, NOTE_STEP, readSteps } from '../progress.ts'
import type { ImportProgress } from '../progress.ts'
import { accountsOf, createReaderHandlers } from '../reader-handlers.ts'
import { sealImported } from '../../pipeline/index.ts'
import { asImportError, withTarget } from '../target.ts'
import { unfit } from '../unfit.ts'
import type { ImportTarget } from '../target.ts'
import { readFieldsToRepair } from './fields-to-repair.ts'
import { completeFromLog, findBriefTemplates, loggedTables } from './logged-facts.ts'
import { describeBrief, findLacking, findLostAssets, requireComplete } from './completeness.ts'
import { putConfigs, readPrecisions } from './configs.ts'
import type { PartContext } from './copy-parts.ts'
import { WINDOW_MS, assetSteps, eventSteps, plainSteps } from './copy-steps.ts'
import type { AppendColumns, EventTotals } from './copy-steps.ts'
import { counterSteps, NUMBER_MINTS, removeForgedLogs } from './counters.ts'
import type { StoredEvents } from './event-rows.ts'
import { listLeftOut } from './left-out.ts'
import { listingParts } from './listing-parts.ts'
import { readListings, writeListings } from './listing-steps.ts'
import type { ChangedListings } from './listing-steps.ts'
import { putMarketCounters, putOracleFromNode } from './node-rows.ts'
import { findDoubledRow } from './doubled-rows.ts'
import { findUnindexed, openOldSource, requireFamilies } from './old-source.ts'
import type { OldSource } from './old-source.ts'
import { undoReversible } from './old-undo.ts'
import type { UndoneSource } from './old-undo.ts'
import { putOracleFromSource } from './oracle-rows.ts'
import { MapPacker } from './packed-maps.ts'
import { describeDifferences } from './report.ts'
import type { Difference } from './report.ts'
import { describeAddress } from './source-address.ts'
import { findBlock } from './source-block.ts'
import { findFirstTime, findSequences } from './source-extent.ts'
import { closeWorkers, openWorkers, runSteps } from './workers.ts'
import type { ImportStep, ImportWorker } from './workers.ts'

export interface ImportDatabaseOptions extends ImportTarget {
  readonly source: DatabaseAddress
  /** Reader name in the source database; optional if the source has exactly one reader. */
  readonly sourceReader?: string
  readonly chain: { readonly chainId: string; readonly http: string }
  /** Number of workers; each has one session on the source database and one on the target database. */
  readonly workers: number
  /** Whether the operator accepts a source database that lacks rows. */
  readonly mayLack?: boolean
  readonly onProgress?: (progress: ImportProgress) => void
  /** Span of block time whose events one step copies, ms. Only tests set this option. */
  readonly windowMs?: number
  /** Number of blocks that one seal covers. Only tests set this option. */
  readonly sealBlocks?: number
}

/** Result of an import. */
export interface ImportReport {
  /** Import block: the import contains the data as of this block, and the reader resumes at the next block. */
  readonly block: number
  readonly blockId: string
  readonly rows: number
  readonly seconds: number
  /** Number of steps that an earlier, interrupted run had completed. */
  readonly resumedSteps: number
  /**
   * Completeness rules that are broken, because the source database lacks rows. The operator accepted the missing rows.
   */
  readonly lacking: readonly string[]
  /** Tables and contracts of the source database that the import omits entirely. */
  readonly leftOut: readonly Difference[]
  /** Differences between the imported database and a database that was indexed from blocks. */
  readonly differences: readonly Difference[]
}

/**
 * Imports a database of eosio-contract-api 1.3.x or atomicassets-api 2.x. The source is never changed. No other
 * process may write to the target during the import. The next run resumes an interrupted import if the source is
 * unchanged, and starts over otherwise.
 *
 * @throws FatalError `IMPORT_SOURCE_UNFIT`, `IMPORT_SOURCE_INCOMPLETE`, `IMPORT_TARGET_FILLED`, `CHAIN_MISMATCH`, and
 * the errors of the store; RetryableError `CHAIN_UNREACHABLE`, `DATABASE_UNAVAILABLE`.
 */
export async function importDatabase(options: ImportDatabaseOptions): Promise<ImportReport> {
  try {
    return await importInto(options)
  } catch (error) {
    throw asImportError(error, options.signal)
  }
}

async function importInto(options: ImportDatabaseOptions): Promise<ImportReport> {
  const source = await openOldSource(options.source, options.sourceReader)
  try {
    const handlers = createReaderHandlers(options.settings)
    requireFamilies(source, accountsOf(handlers))
    const unindexed = await findUnindexed(source)
    if (unindexed.length > 0)
      options.logger.warn(
        { tables: unindexed },
        'tables of the source have no index, so every step scans them entirely: restore the dump with its indexes',
      )
    const block = await findBlock(source, options.chain)
    return await withTarget(options, handlers, (store) =>
      new DatabaseImport(options, { source, block, handlers, store }).run(),
    ).catch(async (error: unknown) => {
      const doubled = await findDoubledRow(source, error)
      throw doubled === null ? error : unfit(doubled)
    })
  } finally {
    await source.close()
  }
}

/**
 * Name of the step that an import records when it refuses the source database because rows are missing. The next run
 * copies all rows again: the operator may have added the missing rows to the source. If the operator accepts the
 * missing rows instead, the next run uses the rows that are already copied.
 */
const REFUSED_STEP = 'refused as incomplete'

/**
 * Temporary tables of an import. The steps that copy events fill these tables from the log of the source database.
 * Later steps complete or check other rows with the data of these tables.
 */
const workTables = [
  'CREATE TABLE import.mints (asset_id bigint NOT NULL, seq bigint NOT NULL)',
  'CREATE TABLE import.medians (sale_id bigint NOT NULL, median numeric NOT NULL)',
  'CREATE TABLE import.starting_bids (auction_id bigint NOT NULL, amount bigint NOT NULL)',
  'CREATE TABLE import.auction_changes (auction_id bigint NOT NULL, block integer NOT NULL, time_ms bigint NOT NULL)',
  ...loggedTables,
]

/**
 * Planner settings for the completeness checks, which read whole tables. Store sessions turn these settings off,
 * because the statements of the store look up single rows.
 */
const PLANS_OF_WHOLE_TABLES = ['enable_hashjoin', 'enable_mergejoin', 'enable_seqscan'].map(
  (name) => `SET LOCAL ${name} = on`,
)

/**
 * Log2 of the number of global sequences in one partition. The SQL function `chain.ensure_partition` has the same
 * constant.
 */
const PARTITION_BITS = 33n

interface ImportParts {
  readonly source: OldSource
  readonly block: NodeBlock
  readonly handlers: readonly Handler[]
  readonly store: Store
}

class DatabaseImport {
  readonly #options: ImportDatabaseOptions
  readonly #source: OldSource
  readonly #block: NodeBlock
  readonly #handlers: readonly Handler[]
  readonly #store: Store
  readonly #context: PartContext
  readonly #totals: EventTotals = { unknown: new Map(), unpacked: 0 }
  #done = new Set<string>()
  #rows = 0
  #hasNodeTables = true

  constructor(options: ImportDatabaseOptions, { source, block, handlers, store }: ImportParts) {
    this.#options = options
    this.#source = source
    this.#block = block
    this.#handlers = handlers
    this.#store = store
    this.#context = {
      source,
      reader: options.settings.name,
      block: block.num,
      accounts: accountsOf(handlers),
    }
  }

  async run(): Promise<ImportReport> {
    const started = performance.now()
    const isRefused = (await readSteps(this.#store)).has(REFUSED_STEP)
    await beginImport(
      this.#store,
      {
        kind: 'database',
        source: describeAddress(this.#options.source),
        fingerprint: this.#source.fingerprint,
        block: this.#block,
        historySince: null,
        workTables,
      },
      isRefused && this.#options.mayLack !== true,
    )
    this.#done = await readSteps(this.#store)
    this.#done.delete(REFUSED_STEP)
    const resumedSteps = this.#done.size
    await this.#ensurePartitions()
    await this.#copy()
    const { lacking, briefTemplates } = await this.#finish()
    await this.#seal()
    return {
      block: this.#block.num,
      blockId: this.#block.id,
      rows: this.#rows,
      seconds: (performance.now() - started) / 1000,
      resumedSteps,
      lacking,
      leftOut: await listLeftOut(this.#source, this.#context.accounts),
      differences: describeDifferences({
        context: this.#context,
        totals: this.#totals,
        hasNodeTables: this.#hasNodeTables,
        lostTemplates: briefTemplates,
      }),
    }
  }

  /**
   * Runs the completeness checks and sets the position of the reader in one transaction, because some rules of the
   * checks read the position.
   */
  async #finish(): Promise<{ lacking: string[]; briefTemplates: string[] }> {
    const { num, id, timeMs } = this.#block
    let lacking: string[] = []
    let briefTemplates: string[] = []
    this.#report('checks', 0, 1, 0)
    const lostAssets = await findLostAssets(this.#context)
    const finished = finishImport(
      this.#store,
      { num, id: Buffer.from(id, 'hex'), timeMs },
      async (statements) => {
        for (const setting of PLANS_OF_WHOLE_TABLES) await statements.run(setting, [])
        lacking = [...lostAssets, ...(await findLacking(statements, this.#stored()))]
        requireComplete(lacking, this.#options.mayLack === true)
        briefTemplates = await findBriefTemplates(statements)
        const gaps = [...lacking, ...describeBrief(briefTemplates)]
        if (gaps.length > 0)
          await statements.run('UPDATE chain.imports SET accepted_gaps = $2 WHERE reader = $1', [
            this.#options.settings.name,
            gaps,
          ])
      },
    )
    await finished.catch(async (error: unknown) => {
      if (error instanceof FatalError && error.code === 'IMPORT_SOURCE_INCOMPLETE')
        await this.#store.query(NOTE_STEP, [this.#options.settings.name, REFUSED_STEP, 0])
      throw error
    })
    this.#report('checks', 1, 1, 0)
    return { lacking, briefTemplates }
  }

  /** Seals the imported history. If the import is stopped during this phase, the reader seals the remaining ranges. */
  async #seal(): Promise<void> {
    const { database, settings, sealBlocks } = this.#options
    if (!settings.seal_history) return
    this.#report('seals', 0, 1, 0)
    await sealImported(database, settings, this.#store.lease, sealBlocks)
    this.#report('seals', 1, 1, 0)
  }

  async #copy(): Promise<void> {
    const context = this.#context
    const store = this.#store
    const undone = await undoReversible(this.#source)
    const parts = listingParts(context)
    let plain: ImportStep[]
    let assets: ImportStep[]
    const changedListings = new Map<string, ChangedListings>()
    let precisions: ReadonlyMap<string, number>
    try {
      await this.#configs(undone)
      precisions = await readPrecisions(context, undone)
      plain = await plainSteps(context, undone)
      assets = await assetSteps(context, undone, await readFieldsToRepair(context))
      for (const part of parts) changedListings.set(part.table, await readListings(part, undone))
    } finally {
      await undone.close()
    }
    const workers = await openWorkers(this.#source, this.#options.database, this.#options.workers)
    try {
      await this.#phase('logs and transfers', workers, await this.#events())
      await this.#atOnce('indexes of logged facts', workers[0]!, async ({ target }) => {
        await target.query('CREATE INDEX mints_asset_idx ON import.mints (asset_id)')
        await target.query('CREATE INDEX medians_sale_idx ON import.medians (sale_id)')
        await target.query('CREATE INDEX starting_bids_auction_idx ON import.starting_bids (auction_id)')
        await target.query('CREATE INDEX auction_changes_idx ON import.auction_changes (auction_id)')
        await target.query(
          'ANALYZE import.mints, import.medians, import.starting_bids, import.auction_changes',
        )
        return 0
      })
      await this.#phase('assets and settings', workers, [...plain, ...assets])
      await this.#atOnce('facts of the log', workers[0]!, completeFromLog)
      await this.#atOnce(
        'mint numbers',
        workers[0]!,
        async ({ target }) => (await target.query(NUMBER_MINTS)).rowCount ?? 0,
      )
      await this.#atOnce('statistics', workers[0]!, (worker) => this.#analyze(worker))
      if (context.accounts.assets !== null) await this.#phase('counters', workers, counterSteps())
      await writeListings({
        store,
        source: workers[0]!.source,
        context,
        parts,
        changed: changedListings,
        precisions,
        timeMs: this.#block.timeMs,
        done: this.#done,
        signal: this.#options.signal,
        onStep: (phase, done, of, rows) => this.#report(phase, done, of, rows),
      })
      await this.#atOnce('forged logs', workers[0]!, removeForgedLogs)
      // Without statistics PostgreSQL assumes that the listing tables are empty. The completeness checks would then
      // read all logs once for each listing.
      await this.#atOnce('statistics of listings', workers[0]!, (worker) => this.#analyze(worker))
    } finally {
      await closeWorkers(workers)
    }
  }

  /** Analyzes the tables that were never analyzed, or that were empty when they were last analyzed. */
  async #analyze({ target }: ImportWorker): Promise<number> {
    const names = this.#handlers.flatMap(({ tables }) => tables.map(({ name }) => name))
    const { rows } = await target.query<{ name: string }>(
      'SELECT oid::regclass::text AS name FROM pg_class WHERE oid = ANY($1::regclass[]) AND reltuples <= 0 ORDER BY 1',
      [names],
    )
    for (const { name } of rows) await target.query(`ANALYZE ${name}`)
    return 0
  }

  async #configs(undone: UndoneSource): Promise<void> {
    const { http } = this.#options.chain
    const { oracle, market } = this.#context.accounts
    const unit = new CommitUnit(false)
    await putConfigs(this.#context, undone, unit)
    const fromNode = (what: string) => (error: unknown) => {
      const cause = describeError(error)
      this.#options.logger.warn(
        { what, cause },
        'the chain node does not return a table; the rows of the source are used',
      )
      return false
    }
    this.#hasNodeTables = true
    if (market !== null)
      this.#hasNodeTables = await putMarketCounters({ http, account: market }, unit).then(
        () => true,
        fromNode('counters'),
      )
    if (oracle !== null && this.#hasNodeTables)
      this.#hasNodeTables = await putOracleFromNode(
        { http, account: oracle },
        this.#block,
        undone,
        unit,
      ).then(() => true, fromNode('oracle'))
    if (oracle !== null && !this.#hasNodeTables) await putOracleFromSource(undone, oracle, unit)
    if (this.#done.has('settings')) return
    await loadStep(this.#store, { name: 'settings', unit, rows: 0, timeMs: this.#block.timeMs })
  }

  async #events(): Promise<ImportStep[]> {
    const context = this.#context
    const firstMs = await findFirstTime(context)
    const abis = await this.#source.query<{ block: bigint; packed: Buffer }>(
      `SELECT block_num AS block, abi AS packed FROM contract_abis WHERE account = $1 AND block_num <= $2 ORDER BY block_num`,
      [context.accounts.assets ?? '', this.#block.num],
    )
    const packer = new MapPacker(abis.map(({ block, packed }) => ({ block: Number(block), packed })))
    if (firstMs === null) return []
    const window = {
      firstMs,
      lastMs: this.#block.timeMs,
      widthMs: this.#options.windowMs ?? WINDOW_MS,
    }
    return eventSteps(context, window, {
      stored: this.#stored(),
      packer,
      columns: await this.#appendColumns(),
      totals: this.#totals,
    })
  }

  #stored(): StoredEvents {
    const args = (family: string) =>
      this.#options.settings.contracts.find(({ handler }) => handler === family)?.args ?? {}
    return {
      assets: {
        logs: args('assets').store_logs === true,
        transfers: args('assets').store_transfers === true,
      },
      marketLogs: args('market').store_logs === true,
      toolsLogs: args('tools').store_logs === true,
    }
  }

  get #appended(): Table[] {
    return this.#handlers.flatMap(({ tables }) => tables.filter(({ kind }) => kind === 'append'))
  }

  async #appendColumns(): Promise<AppendColumns> {
    const columns = new Map<string, string[]>()
    for (const { name } of this.#appended) {
      const rows = await this.#store.query<{ name: string }>(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
        [name],
      )
      columns.set(
        name,
        rows.map((row) => row.name),
      )
    }
    return columns
  }

  async #ensurePartitions(): Promise<void> {
    const [low, high] = await findSequences(this.#context, this.#block.timeMs)
    for (const { name } of this.#appended)
      for (let part = low >> PARTITION_BITS; part <= (high >> PARTITION_BITS) + 1n; part++)
        await this.#store.query('SELECT chain.ensure_partition($1::regclass, $2)', [
          name,
          part << PARTITION_BITS,
        ])
  }

  async #phase(phase: string, workers: readonly ImportWorker[], all: readonly ImportStep[]): Promise<void> {
    const steps = all.filter(({ name }) => !this.#done.has(name))
    let finished = all.length - steps.length
    this.#report(phase, finished, all.length, 0)
    await runSteps(workers, steps, {
      lease: this.#store.lease,
      signal: this.#options.signal,
      onStep: (rows) => this.#report(phase, ++finished, all.length, rows),
    })
  }

  /** Runs a phase that consists of one step, on one worker. */
  #atOnce(name: string, worker: ImportWorker, run: ImportStep['run']): Promise<void> {
    return this.#phase(name, [worker], [{ name, run }])
  }

  #report(phase: string, done: number, of: number, rows: number): void {
    this.#rows += rows
    this.#options.onProgress?.({ phase, done, of, rows: this.#rows })
  }
}
