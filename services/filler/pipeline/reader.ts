import { chainTables } from '../../core/model/tables/index.ts'
import { connectDatabase } from '../../core/database/index.ts'
import { refuseUnfinishedImport } from '../../core/database/imports/index.ts'
import type { UnfinishedImport } from '../../core/database/imports/index.ts'
import { normalizeAbiJson } from '../../core/antelope/abi/index.ts'
import {
  describeError,
  FatalError,
  PronghornError,
  remedyOf,
  RetryableError,
} from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'
import { backoffDelayMs, pause } from '../../core/retry/index.ts'
import { compileProtocol } from '../decode/index.ts'
import type { Protocol } from '../decode/index.ts'
import { LiveMode, Outbox, FeedRecorder } from '../feed/index.ts'
import { createHandler, createStateWriter, sortFamilies } from '../handlers/index.ts'
import type { Handler, Query, StateWriter } from '../handlers/index.ts'
import { createShipSession } from '../ship/index.ts'
import type { ShipSession } from '../ship/index.ts'
import { listTables } from '../../core/model/index.ts'
import { openStore, takeLease } from '../store/index.ts'
import type { Store } from '../store/index.ts'
import { BlockApplier } from './block-applier.ts'
import { commitGoodBlocks, FaultInUnit } from './fault-in-unit.ts'
import type { FaultPlace } from './fault-in-unit.ts'
import { noteGaps } from './gaps.ts'
import { Heartbeat } from './heartbeat.ts'
import { assumeMissingAbis } from './missing-abis.ts'
import { fetchMissingPairs } from './missing-pairs.ts'
import { HistorySealer } from './history-sealer.ts'
import { noObserver } from './observer.ts'
import { PendingListCleaner } from './pending-list-cleaner.ts'
import { QueryIndexBuilder } from './query-index-builder.ts'
import { Reading } from './reading.ts'
import type { ReadingParts } from './reading.ts'
import type { ReaderOptions, RetryTiming } from './reader-options.ts'
import { checkReader, checkStateWriters, hasLateFamily, wasImported } from './reader-checks.ts'
import { withoutDerived } from './without-derived.ts'

/** State that stays the same over all attempts of a reader. */
interface ReaderRun {
  readonly options: ReaderOptions
  readonly handlers: readonly Handler[]
  readonly stateWriters: readonly StateWriter[]
  readonly heartbeat: Heartbeat
  readonly signal: AbortSignal
  /** Whether each block is committed alone. */
  readonly singly: boolean
  /** Error by address of each node that is no longer read, because the node sent a block that could not be applied. */
  readonly leftOut: Map<string, PronghornError>
}

/** The waits between the attempts add up to about a minute: longer than a database restart takes. */
const defaultRetry: RetryTiming = { attempts: 8, firstMs: 500, longestMs: 30_000 }

/**
 * Indexes a chain until `stop_block` or until `signal` aborts. A transient error is retried from the committed
 * position; any other error stops the reader.
 *
 * @throws FatalError that names the problem; RetryableError if all retries failed.
 */
export async function runReader(options: ReaderOptions, signal: AbortSignal): Promise<void> {
  const stateWriters = options.settings.contracts.flatMap((entry) => {
    const stateWriter = createStateWriter(entry, options.settings.name)
    return stateWriter ? [stateWriter] : []
  })
  const handlers = createHandlers(options, stateWriters)
  const retry = { ...defaultRetry, ...options.retry }
  const heartbeat = new Heartbeat(
    options.database,
    options.settings.name,
    options.onStatus ?? (() => undefined),
    options.stalledAfterMs,
  )
  const run: ReaderRun = {
    options,
    handlers,
    stateWriters,
    heartbeat,
    signal,
    singly: false,
    leftOut: new Map(),
  }
  try {
    let attempt = 0
    let lastBlock = -1
    const logInterruption = createInterruptionLog(options)
    for (;;) {
      try {
        await readOnce(run)
        if (!signal.aborted)
          options.logger.info(
            { stop_block: options.settings.stop_block },
            'the reader has reached stop_block and stops',
          )
        break
      } catch (caught) {
        const fault = caught instanceof FaultInUnit ? caught : null
        const error = fault?.error ?? caught
        if (fault !== null && !signal.aborted) {
          const ending = await endAt(fault, run)
          if (leaveOut(fault.place.node, ending, run)) continue
          throw ending
        }
        if (!(error instanceof RetryableError) || signal.aborted) throw error
        const block = heartbeat.block
        attempt = block === lastBlock ? attempt + 1 : 1
        lastBlock = block
        if (attempt >= retry.attempts) throw error
        options.observer?.interrupted()
        heartbeat.interrupt(error)
        const delayMs = backoffDelayMs(retry, attempt - 1)
        logInterruption(error, { attempt, delayMs })
        if (!(await pause(delayMs, signal))) return
      }
    }
  } finally {
    await heartbeat.stop()
  }
  // A reader with a `stop_block` below the head never reaches the head, where the index build starts.
  if (options.buildQueryIndexes !== false) await createIndexBuilder(options).finish(signal)
  if (options.settings.seal_history && !signal.aborted) await sealToEnd(options, signal)
}

interface Interruption {
  readonly attempt: number
  readonly delayMs: number
}

/**
 * If reading is interrupted by the same error again, the remedy for the error is logged again only after this time, ms.
 */
const REPEAT_AFTER_MS = 600_000

/**
 * Logs the error that interrupted reading, with its remedy. If the same error occurs again within REPEAT_AFTER_MS, logs
 * only its code and the number of the attempt.
 */
function createInterruptionLog({ logger, mode = 'process' }: ReaderOptions) {
  let last = { text: '', atMs: 0 }
  return (error: RetryableError, wait: Interruption): void => {
    const { code, details } = error
    const described = describeError(error)
    const isRepeated = described === last.text && performance.now() - last.atMs < REPEAT_AFTER_MS
    if (!isRepeated) last = { text: described, atMs: performance.now() }
    const text = isRepeated
      ? `reading is still interrupted (${code})`
      : `reading was interrupted and continues from the committed position: ${described}. ${remedyOf(code, mode, details)}`
    logger[mode === 'standalone' ? 'info' : 'warn']({ code, ...wait }, text)
  }
}

/** Seals the history of a reader that has reached its `stop_block`. */
async function sealToEnd(options: ReaderOptions, signal: AbortSignal): Promise<void> {
  const client = await connectDatabase(options.database, {
    applicationName: `pronghorn filler ${options.settings.name}`,
  })
  try {
    await new HistorySealer(options, await takeLease(client, options.settings.name)).finish(signal)
  } finally {
    await client.end().catch(() => undefined)
  }
}

function createIndexBuilder({ database, settings, logger, indexRetryMs }: ReaderOptions): QueryIndexBuilder {
  const families = settings.contracts.map((entry) => entry.handler)
  return new QueryIndexBuilder(database, families, logger, indexRetryMs)
}

/** Commits the good blocks before a fault and returns the error to report. */
async function endAt(fault: FaultInUnit, run: ReaderRun): Promise<unknown> {
  const read = ({ last, singly }: FaultPlace): Promise<void> => {
    const settings = { ...run.options.settings, stop_block: last, delete_data: false }
    return readOnce({ ...run, options: { ...run.options, settings }, singly })
  }
  return commitGoodBlocks(fault, read, () => run.heartbeat.block)
}

const faultsOfBlock: ReadonlySet<ErrorCode> = new Set(['BLOCK_FAILED', 'SHIP_BLOCK_UNREADABLE'])

/** Excludes the node that sent a block that cannot be applied. Returns false if no other node is left. */
function leaveOut(node: string | null, error: unknown, { options, leftOut }: ReaderRun): boolean {
  const isLast = leftOut.size + 1 >= options.chain.ship.length
  if (node === null || isLast || !(error instanceof FatalError) || !faultsOfBlock.has(error.code))
    return false
  leftOut.set(node, error)
  options.logger.error(
    { url: node, code: error.code },
    `${describeError(error)}: the node is excluded, and another node supplies the block`,
  )
  return true
}

function createHandlers(options: ReaderOptions, stateWriters: readonly StateWriter[]): Handler[] {
  const handlers = options.settings.contracts.flatMap((entry) => {
    if (stateWriters.some(({ family }) => family === entry.handler)) return []
    const handler = createHandler(entry, options.settings.contracts)
    if (!handler)
      options.logger.warn(
        { handler: entry.handler },
        'this version cannot index contracts of this handler yet; the contract is skipped',
      )
    return handler ? [handler] : []
  })
  return sortFamilies(handlers).map((handler) =>
    options.withoutDerived?.includes(handler.family) ? withoutDerived(handler) : handler,
  )
}

async function readOnce(run: ReaderRun): Promise<void> {
  const { options, handlers, stateWriters, heartbeat } = run
  const { settings, logger, chain } = options
  const families = [...handlers, ...stateWriters]
  const tables = [...listTables(chainTables), ...families.flatMap((family) => family.tables)]
  const store = await openStore({
    address: options.database,
    reader: settings.name,
    startBlock: Math.max(settings.start_block, 1),
    tables,
    derived: handlers.flatMap((handler) => handler.derived ?? []),
    ...(options.handoverMs === undefined ? {} : { handoverMs: options.handoverMs }),
  })
  try {
    const session = {
      query: async (text: string, values: readonly unknown[]) => ({
        rows: await store.query<UnfinishedImport>(text, values),
      }),
    }
    await refuseUnfinishedImport(session, settings.name)
    const startBlock = await checkReader(store, { settings, families, chainId: chain.chainId, logger })
    heartbeat.noteGaps(await noteGaps(store, settings.name, startBlock, logger))
    await checkStateWriters(store, stateWriters, startBlock, logger)
    if (startBlock > 2 || (await hasLateFamily(store, settings.name)))
      await fetchMissingPairs({ store, handlers, http: chain.http, startBlock, logger })
    const mayLackAbis = startBlock > 2 || (await wasImported(store, settings.name))
    const applier = new BlockApplier(settings.name, handlers, stateWriters, logger)
    const query: Query = (text, values) => store.query(text, values)
    const reload = async () => {
      const block = Math.max(store.position?.num ?? 0, startBlock - 1)
      await applier.reload(query, block, store.position?.timeMs ?? 0)
      if (mayLackAbis) await assumeMissingAbis(applier, block, { query, http: chain.http, logger })
    }
    await reload()
    const recorder = await openRecorder(options, store, startBlock)
    await readUntilEnd(run, { store, applier, reload, recorder, startBlock })
  } finally {
    await store.close()
  }
}

async function openRecorder(options: ReaderOptions, store: Store, startBlock: number): Promise<FeedRecorder> {
  const { settings } = options
  const observer = options.observer ?? noObserver
  const query = <T extends object>(text: string, values: readonly unknown[]) => store.query<T>(text, values)
  const outbox = await Outbox.open(query, settings.name, settings.feed_blocks)
  const position = store.position?.num ?? 0
  const isWhole = outbox.state?.toldTo === position && startBlock <= position + 1
  return new FeedRecorder({
    reader: settings.name,
    outbox,
    mode: new LiveMode(isWhole, settings.feed_max_behind),
    irreversibleOnly: settings.irreversible_only,
    send: options.send ?? (() => undefined),
    onEntry: ({ entry, storedBytes }) =>
      observer.published({
        kind: entry.kind,
        events: entry.kind === 'block' ? entry.events.length : 0,
        storedBytes,
      }),
  })
}

async function readUntilEnd(
  { options, heartbeat, signal, singly, leftOut }: ReaderRun,
  parts: Pick<ReadingParts, 'store' | 'applier' | 'reload' | 'recorder' | 'startBlock'>,
): Promise<void> {
  const { settings, logger } = options
  const failing = new AbortController()
  let failure: unknown
  const observer = options.observer ?? noObserver
  const onError = (error: unknown) => {
    failure ??= error
    failing.abort()
  }
  const groupBlocks = settings.db_group_blocks
  const reading = new Reading({ ...parts, groupBlocks, singly, logger, observer, onError })
  const session = openSession({ options, leftOut }, parts.startBlock, reading)
  reading.attach(session)
  const sealer = settings.seal_history ? new HistorySealer(options, parts.store.lease) : null
  const indexes = createIndexBuilder(options)
  const cleaner = new PendingListCleaner(options)
  const startBeside = async (): Promise<void> => {
    if (options.buildQueryIndexes !== false) await indexes.start()
    cleaner.start()
    sealer?.start()
  }
  heartbeat.follow(session, reading, settings.irreversible_only, ({ state, block, blocksBehind }) => {
    if (state === 'live') void startBeside()
    parts.recorder.beat(block, blocksBehind)
  })
  try {
    await session.run(AbortSignal.any([signal, failing.signal]))
    // When stopped, drop the received blocks that are not committed. The next start reads these blocks again.
    if (failure === undefined && !signal.aborted) await reading.finish()
  } catch (error) {
    failure ??= error
    // The session failed. The blocks that were received before the failure are good, so commit these blocks.
    if (!signal.aborted) await reading.finish()
  } finally {
    await reading.abandon()
    await Promise.all([sealer?.stop(), cleaner.stop(), indexes.stop()])
  }
  if (failure === undefined) return
  const error =
    failure instanceof PronghornError
      ? failure
      : new FatalError('INTERNAL', 'the reader failed', { cause: failure })
  throw reading.fault === null ? error : new FaultInUnit(error, reading.fault)
}

/** Blocks whose content is compared with the Merkle roots of their header. */
export function checkedRoots(settings: ReaderOptions['settings']): 'none' | 'reversible' | 'all' {
  if (!settings.ship_check_roots) return 'none'
  return settings.ship_check_history_roots === true ? 'all' : 'reversible'
}

function openSession(
  { options, leftOut }: Pick<ReaderRun, 'options' | 'leftOut'>,
  startBlock: number,
  reading: Reading,
): ShipSession {
  const { settings, chain } = options
  return createShipSession<Protocol>(
    {
      urls: chain.ship,
      chainId: chain.chainId,
      startBlock,
      stopBlock: settings.stop_block,
      irreversibleOnly: settings.irreversible_only,
      prefetchBlocks: settings.ship_prefetch_blocks,
      minBlockConfirmation: settings.ship_min_block_confirmation,
      ...(settings.ship_max_message_bytes === undefined
        ? {}
        : { maxMessageBytes: settings.ship_max_message_bytes }),
      leftOut,
      checkBlocks: true,
      checkRoots: checkedRoots(settings),
      compileProtocol: (abi) => compileProtocol(normalizeAbiJson(abi)),
      logger: options.logger,
      ...(options.shipTiming ? { timing: options.shipTiming } : {}),
    },
    reading,
  )
}
