import type { EventEntity } from '../../core/live/index.ts'
import type { FeedBlock, FeedTrace, FeedTransaction } from '../../core/feed/index.ts'
import { largeMembers } from './live-event.ts'
import type { LiveEvent } from './live-event.ts'

/**
 * Maximum length of the transactions in all payloads of one block together, in characters. Above this limit the
 * transaction in each payload contains only the trace of the payload's event.
 */
const MAX_TRANSACTION_CHARACTERS = 4 * 1024 * 1024

/**
 * Name of the payload member that contains the record, for each record type that the member is not named after. A
 * `template_buyoffer` is in the member `buyoffer`, its id in `buyoffer_id`.
 */
const members: Readonly<Partial<Record<EventEntity, string>>> = { template_buyoffer: 'buyoffer' }

/** Builds the payloads of one block's events in the format of socket.io clients. */
export class SocketPayloads {
  readonly #block: FeedBlock
  readonly #blockText: string
  readonly #transactions = new Map<FeedTransaction, string>()
  readonly #payloads = new WeakMap<LiveEvent, string>()

  constructor(block: FeedBlock) {
    const { id, num, time, producer } = block.block
    this.#block = block
    this.#blockText = JSON.stringify({
      block_id: id.toUpperCase(),
      block_num: num,
      timestamp: new Date(time).toISOString().slice(0, -1),
      producer,
    })
  }

  /** Returns the JSON payload of an event: transaction, block, trace, id and, if the record exists, the record. */
  payload(event: LiveEvent): string {
    const known = this.#payloads.get(event)
    if (known !== undefined) return known
    const made = this.#encode(event)
    this.#payloads.set(event, made)
    return made
  }

  #encode(event: LiveEvent): string {
    const name = members[event.entry.entity] ?? event.entry.entity
    const parts = [
      `"transaction":${this.#transaction(event)}`,
      `"block":${this.#blockText}`,
      `"trace":${traceText(event.trace)}`,
      `"${name}_id":${JSON.stringify(event.event.id)}`,
    ]
    if (event.trace.name === 'auctionbid') parts.push(`"bid":${this.#bid(event)}`)
    if (event.record.text !== undefined) parts.push(`"${name}":${event.record.text}`)
    const large = largeMembers(event.record)
    if (large) parts.push(JSON.stringify(large).slice(1, -1))
    return `{${parts.join(',')}}`
  }

  #transaction({ transaction, trace }: LiveEvent): string {
    const known = this.#transactions.get(transaction)
    const whole = known ?? transactionText(transaction, transaction.traces.map(traceText))
    if (known === undefined) this.#transactions.set(transaction, whole)
    const { events, transactions } = this.#block
    const repeats = events.filter((each) => transactions[each.transaction] === transaction).length
    // A transaction with thousands of actions would otherwise be repeated in full in thousands of payloads.
    return whole.length * repeats <= MAX_TRANSACTION_CHARACTERS
      ? whole
      : transactionText(transaction, [traceText(trace)])
  }

  /**
   * Builds the payload member `bid` for an `auctionbid` action. The bid number comes from the record of the auction.
   */
  #bid({ trace, transaction, record }: LiveEvent): string {
    const { bidder = '', bid = '' } = (trace.data ?? {}) as { bidder?: string; bid?: string }
    const amount = BigInt(bid.split(' ')[0]!.replace('.', '') || '0').toString()
    const { bids = [] } = (record.text === undefined ? {} : JSON.parse(record.text)) as {
      bids?: readonly RecordedBid[]
    }
    const found = bids.find(
      (each) => each.txid === transaction.id && each.account === bidder && each.amount === amount,
    )
    const { num, time } = this.#block.block
    return JSON.stringify({
      number: found?.number ?? 0,
      account: bidder,
      amount,
      created_at_block: num,
      created_at_time: time,
      txid: transaction.id.toUpperCase(),
    })
  }
}

interface RecordedBid {
  readonly number: number
  readonly account: string
  readonly amount: string
  readonly txid: string
}

function transactionText(
  { id, cpu_usage_us, net_usage_words }: FeedTransaction,
  traces: readonly string[],
): string {
  return `{"id":"${id.toUpperCase()}","cpu_usage_us":${cpu_usage_us},"net_usage_words":${net_usage_words},"traces":[${traces.join(',')}]}`
}

function traceText(trace: FeedTrace): string {
  const { account, name, authorization } = trace
  return JSON.stringify({
    action_ordinal: trace.action_ordinal,
    creator_action_ordinal: trace.creator_action_ordinal,
    global_sequence: trace.global_sequence,
    account_ram_deltas: [],
    act: { account, name, authorization, data: trace.data ?? opaque(trace) },
  })
}

/** Formats action data that could not be decoded in the form of the replaced system. */
function opaque({ raw }: FeedTrace): unknown {
  const bytes = Buffer.from(raw ?? '', 'base64')
  return { binary: Object.fromEntries(bytes.entries()), block_num: null, json: null }
}
