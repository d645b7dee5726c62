import type { EventFamily } from '../live/index.ts'

/** Header fields of a block in messages. */
export interface FeedBlockHead {
  readonly num: number
  /** Block id: 64 lower-case hexadecimal digits. */
  readonly id: string
  /** Block time in epoch milliseconds. */
  readonly time: number
  readonly producer: string
}

/** An actor and permission that authorised an action. */
export interface FeedAuthorization {
  readonly actor: string
  readonly permission: string
}

/**
 * An executed action whose receiver is the contract itself. Executions in which other accounts are notified of the
 * action are left out.
 */
export interface FeedTrace {
  /** Position of the action in the transaction, from 1. */
  readonly action_ordinal: number
  /** Position of the action that sent this inline action; 0 if a user signed it. */
  readonly creator_action_ordinal: number
  /** Global sequence (chain-wide order of execution), decimal. */
  readonly global_sequence: string
  readonly account: string
  readonly name: string
  readonly authorization: readonly FeedAuthorization[]
  /**
   * Action data decoded with the contract's ABI; 64-bit integers are decimal text. Absent if no ABI of an indexed
   * contract fits; `raw` then has the packed data.
   */
  readonly data?: unknown
  /** Packed action data, base64. */
  readonly raw?: string
  /** Size of the packed data if they are too large for the message and left out. */
  readonly omitted_bytes?: number
}

/** An executed transaction with published events. */
export interface FeedTransaction {
  /** Transaction id: 64 lower-case hexadecimal digits. */
  readonly id: string
  readonly cpu_usage_us: number
  readonly net_usage_words: number
  /** Traces in order of execution. */
  readonly traces: readonly FeedTrace[]
}

/**
 * Filter keys of an event: subscriptions match these without reading the database. Decimal text and names; a missing
 * list means unknown.
 */
export interface FeedKeys {
  readonly collections?: readonly string[]
  /** Distinct accounts that the action names. */
  readonly accounts?: readonly string[]
  readonly assets?: readonly string[]
  readonly templates?: readonly string[]
}

/** An event of an entity, caused by one action. */
export interface FeedEvent {
  /** Account of the contract. */
  readonly contract: string
  readonly family: EventFamily
  /** Event name in the event catalogue. */
  readonly event: string
  /** Id of the entity; the catalogue entry defines its fields. */
  readonly id: string
  /** Index of the transaction in the list `transactions` of the block message. */
  readonly transaction: number
  /** Index of the trace in the list `traces` of the transaction. */
  readonly trace: number
  readonly keys: FeedKeys
}

/** A block with its events in order of execution. Blocks without events have no entry. */
export interface FeedBlock {
  readonly kind: 'block'
  readonly reader: string
  /** Start time of the feed in epoch milliseconds. Sequences of different epochs belong to different feeds. */
  readonly epoch: number
  /**
   * Sequence number of the entry in the reader's feed, decimal. Consecutive entries have consecutive numbers.
   */
  readonly sequence: string
  readonly block: FeedBlockHead
  readonly transactions: readonly FeedTransaction[]
  readonly events: readonly FeedEvent[]
}

/** A fork: all blocks from `block_num` on are undone. */
export interface FeedFork {
  readonly kind: 'fork'
  readonly reader: string
  readonly epoch: number
  readonly sequence: string
  /** Number of the first block that the fork undoes. */
  readonly block_num: number
}

/**
 * A gap: blocks whose events were not published, because the reader was too far behind the head when it indexed the
 * blocks.
 */
export interface FeedGap {
  readonly kind: 'gap'
  readonly reader: string
  readonly epoch: number
  readonly sequence: string
  /** First block of the gap; null if unknown. */
  readonly from_block: number | null
  /** Last block of the gap. */
  readonly to_block: number
}

/** An entry of a reader's feed. Entries are stored in order, with consecutive sequences. */
export type FeedEntry = FeedBlock | FeedFork | FeedGap

/** Progress of a reader; never stored. `epoch` is 0 and `sequence` is "0" while there is no feed. */
export interface FeedLag {
  readonly kind: 'lag'
  readonly reader: string
  readonly epoch: number
  /** Sequence of the newest feed entry, decimal. */
  readonly sequence: string
  /** Last block that the reader committed. */
  readonly block_num: number
  /**
   * Target block of the reader: the head block, or the last irreversible block if the reader reads
   * irreversible blocks only.
   */
  readonly head_block: number
  readonly behind: number
  /** Whether the reader is close enough to the head to publish blocks. */
  readonly live: boolean
}

/** Announces on the bus that an entry is stored but too long for the bus. */
export interface FeedPointer {
  readonly kind: 'stored'
  readonly reader: string
  readonly epoch: number
  readonly sequence: string
}

/** A message on the bus. */
export type FeedMessage = FeedEntry | FeedLag | FeedPointer

/** Bus channel of a reader's messages, in the key-value store. */
export function feedChannel(reader: string): string {
  return `feed:${reader}`
}

/** Maximum message length on the bus, in characters; a longer entry is announced by a `FeedPointer`. */
export const MAX_BUS_CHARACTERS = 512 * 1024
