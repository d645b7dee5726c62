import { bytesToHex } from '../../core/bytes/index.ts'
import { nameToString } from '../../core/antelope/index.ts'
import { eventOfAction } from '../../core/live/index.ts'
import type { EventEntry } from '../../core/live/index.ts'
import type { FeedBlock, FeedEvent, FeedKeys, FeedTrace, FeedTransaction } from '../../core/feed/index.ts'
import type { Protocol, ScannedAction } from '../decode/index.ts'
import { toPlain } from '../rows/json-text.ts'
import type { ShipBlock } from '../ship/index.ts'

/** Content of a block's message, before it has a position in the feed. */
export type BlockEvents = Pick<FeedBlock, 'block' | 'transactions' | 'events'>

/** Reads the whole of an action's data with one version of its contract's ABI. */
export interface DataReader {
  /** All fields, or undefined when the version has no such action. @throws DecodeError */
  read(name: string, bytes: Uint8Array, start: number, end: number): unknown
}

/** Data of other contracts beyond this many bytes is left out of messages: a contract's code, say. */
const MAX_FOREIGN_BYTES = 64 * 1024

/** No asset has this template; contracts write it for none. */
const NO_TEMPLATE = '-1'

interface CapturedEvent {
  readonly entry: EventEntry
  readonly action: ScannedAction
  /** Data of the action as read by the handler. */
  readonly data: unknown
}

/**
 * Collects what is published of one block: the events, and the transactions that they belong to with all of their
 * traces. The block is walked a second time for these, and only when it has an event.
 */
export class BlockCapture {
  readonly #events: CapturedEvent[] = []
  /** Readers of the actions of indexed contracts, by global sequence. */
  readonly #readers = new Map<bigint, DataReader>()

  /** Remembers which ABI an indexed contract's action is to be read with. */
  own(action: ScannedAction, reader: DataReader | null): void {
    if (reader) this.#readers.set(action.globalSequence, reader)
  }

  /** Takes an action that a handler has taken; what no client can care about is left out. */
  add(family: string, name: string, action: ScannedAction, data: unknown): void {
    const entry = eventOfAction(family, name)
    if (entry) this.#events.push({ entry, action, data })
  }

  /**
   * Content of the block's message; null when it has no events.
   *
   * @throws DecodeError when the traces are malformed.
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

  /** Actions of the transactions that have an event, in order of execution, by place of the transaction. */
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
      // What users send to a contract need not fit its ABI; it is published as it is.
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
