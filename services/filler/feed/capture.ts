import { bytesToHex } from '../../core/bytes/index.ts'
import { nameToString } from '../../core/antelope/index.ts'
import { eventOfAction } from '../../core/live/index.ts'
import type { EventEntry } from '../../core/live/index.ts'
import type { FeedBlock, FeedEvent, FeedKeys, FeedTrace, FeedTransaction } from '../../core/feed/index.ts'
import type { Protocol, ScannedAction } from '../decode/index.ts'
import { toPlain } from '../rows/json-text.ts'
import type { ShipBlock } from '../ship/index.ts'

/** Content of a block's feed message, before the message has a position in the feed. */
export type BlockEvents = Pick<FeedBlock, 'block' | 'transactions' | 'events'>

/** Decodes all fields of an action with one version of the contract's ABI. */
export interface DataReader {
  /**
   * Decodes all fields of the data of action `name`; undefined if the ABI version lacks the action. @throws DecodeError
   */
  read(name: string, bytes: Uint8Array, start: number, end: number): unknown
}

/**
 * Maximum size of the action data of a non-indexed contract in a message, bytes. Larger data, such as the
 * code of a contract, is left out.
 */
const MAX_FOREIGN_BYTES = 64 * 1024

/** Template id that contracts write for "no template". No template has this id. */
const NO_TEMPLATE = '-1'

interface CapturedEvent {
  readonly entry: EventEntry
  readonly action: ScannedAction
  /** Data of the action as decoded for the handler. */
  readonly data: unknown
}

/**
 * Collects the published content of one block: the events, and the transactions that caused the events, with all traces
 * of these transactions. Only a block with an event is scanned a second time, for the traces.
 */
export class BlockCapture {
  readonly #events: CapturedEvent[] = []
  /** Decoders for the actions of indexed contracts, by global sequence of the action. */
  readonly #readers = new Map<bigint, DataReader>()

  /** Records the ABI version with which an action of an indexed contract is to be decoded. */
  own(action: ScannedAction, reader: DataReader | null): void {
    if (reader) this.#readers.set(action.globalSequence, reader)
  }

  /** Adds an event for an action that a handler has processed, if the action is one of the published kinds. */
  add(family: string, name: string, action: ScannedAction, data: unknown): void {
    const entry = eventOfAction(family, name)
    if (entry) this.#events.push({ entry, action, data })
  }

  /**
   * Returns the content of the block's message; null if the block has no events.
   *
   * @throws DecodeError if the traces are malformed.
   */
  end(protocol: Protocol, block: ShipBlock, timeMs: number): BlockEvents | null {
    if (this.#events.length === 0 || !block.traces) return null
    const executed = this.#collectTransactions(protocol, block.traces)
    const numbers = new Map([...executed.keys()].map((txIndex, i) => [txIndex, i]))
    const transactions = [...executed.values()].map((actions) => this.#describeTransaction(actions))
    const events = this.#events.map((captured): FeedEvent => {
      const transaction = numbers.get(captured.action.txIndex)!
      const sequence = String(captured.action.globalSequence)
      const traces = transactions[transaction]!.traces
      const trace = traces.findIndex((candidate) => candidate.global_sequence === sequence)
      return describeEvent(captured, transaction, trace, traces[trace]!)
    })
    const { num, id, header } = block
    return { block: { num, id, time: timeMs, producer: producerOf(protocol, header) }, transactions, events }
  }

  /**
   * Actions of the transactions that have an event, in order of execution, by index of the transaction in the block.
   */
  #collectTransactions(protocol: Protocol, traces: Uint8Array): Map<number, ScannedAction[]> {
    const wanted = new Map<number, ScannedAction[]>()
    for (const { action } of this.#events) wanted.set(action.txIndex, [])
    protocol.scanTransactions(traces, {
      action: (action) => void wanted.get(action.txIndex)?.push(action.copy()),
    })
    for (const actions of wanted.values())
      actions.sort((a, b) => (a.globalSequence < b.globalSequence ? -1 : 1))
    return wanted
  }

  #describeTransaction(actions: readonly ScannedAction[]): FeedTransaction {
    const { txid, cpuUsageUs, netUsageWords } = actions[0]!
    return {
      id: bytesToHex(txid),
      cpu_usage_us: cpuUsageUs,
      net_usage_words: netUsageWords,
      traces: actions.map((action) => this.#describeTrace(action)),
    }
  }

  #describeTrace(action: ScannedAction): FeedTrace {
    const { account, name, data } = action
    const head = {
      action_ordinal: action.actionOrdinal,
      creator_action_ordinal: action.creatorActionOrdinal,
      global_sequence: String(action.globalSequence),
      account,
      name,
      authorization: action.authorizations(),
    }
    const read = this.#readData(action, name)
    if (read !== undefined) return { ...head, data: read }
    if (data.length > MAX_FOREIGN_BYTES) return { ...head, omitted_bytes: data.length }
    return { ...head, raw: Buffer.from(data).toString('base64') }
  }

  #readData(action: ScannedAction, name: string): unknown {
    const reader = this.#readers.get(action.globalSequence)
    if (!reader) return undefined
    try {
      const { payload, dataStart, dataEnd } = action
      return toPlain(reader.read(name, payload, dataStart, dataEnd))
    } catch {
      // Action data from users may not fit the ABI; the trace then has the raw bytes.
      return undefined
    }
  }
}

function producerOf(protocol: Protocol, header: Uint8Array | null): string {
  if (!header) return ''
  const { producerLo, producerHi } = protocol.readBlockHeader(header)
  return nameToString(producerLo, producerHi)
}

function describeEvent(
  captured: CapturedEvent,
  transaction: number,
  trace: number,
  { data, global_sequence }: FeedTrace,
): FeedEvent {
  const { entry, action } = captured
  const fields = (data ?? toPlain(captured.data)) as Readonly<Record<string, unknown>>
  return {
    contract: action.account,
    family: entry.family,
    event: entry.event,
    id: entry.id.length === 0 ? global_sequence : entry.id.map((field) => String(fields[field])).join('/'),
    transaction,
    trace,
    keys: keysOf(entry, fields),
  }
}

function keysOf({ keys }: EventEntry, fields: Readonly<Record<string, unknown>>): FeedKeys {
  return Object.fromEntries(
    Object.entries(keys).map(([key, names]: [string, readonly string[]]) => {
      const values = names.flatMap((name) => fields[name] ?? []).map(String)
      return [key, [...new Set(values)].filter((value) => value !== '' && value !== NO_TEMPLATE)]
    }),
  )
}
