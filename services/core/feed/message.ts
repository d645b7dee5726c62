import type { EventFamily } from '../live/index.ts'

/** A block as messages name it. */
export interface FeedBlockHead {
  readonly num: number
  /** 64 lower-case hexadecimal digits. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly time: number
  readonly producer: string
}

/** Who signed for an action. */
export interface FeedAuthorization {
  readonly actor: string
  readonly permission: string
}

/** An executed action whose receiver is the account that it belongs to. */
export interface FeedTrace {
  /** Position in the transaction, from 1. */
  readonly action_ordinal: number
  /** Position of the action that sent this one; 0 when the user signed it. */
  readonly creator_action_ordinal: number
  /** Chain-wide order of execution, decimal. */
  readonly global_sequence: string
  readonly account: string
  readonly name: string
  readonly authorization: readonly FeedAuthorization[]
  /**
   * The action's fields as the contract's ABI names them, integers of 64 bits as decimal text. Absent when no ABI of an
   * indexed contract reads them: then `raw` holds the bytes.
   */
  readonly data?: unknown
  /** Base64 of the action's packed data. */
  readonly raw?: string
  /** Bytes of packed data that are left out of the message because they are too many. */
  readonly omitted_bytes?: number
}

/** An executed transaction with published events. */
export interface FeedTransaction {
  /** 64 lower-case hexadecimal digits. */
  readonly id: string
  readonly cpu_usage_us: number
  readonly net_usage_words: number
  /** In order of execution. */
  readonly traces: readonly FeedTrace[]
}

/** What an event can be found by without reading the database; decimal text and names. A missing list is unknown. */
export interface FeedKeys {
  readonly collections?: readonly string[]
  /** Accounts that the action names, each once. */
  readonly accounts?: readonly string[]
  readonly assets?: readonly string[]
  readonly templates?: readonly string[]
}

/** An event of an entity, from one action. */
export interface FeedEvent {
  /** Contract account. */
  readonly contract: string
  readonly family: EventFamily
  /** Name in the catalogue. */
  readonly event: string
  /** Id of the entity, as the catalogue's entry says. */
  readonly id: string
  /** Index in `transactions`. */
  readonly transaction: number
  /** Index in the transaction's `traces`. */
  readonly trace: number
  readonly keys: FeedKeys
}

/** A block with its events in order of execution; blocks without events have no message. */
export interface FeedBlock {
  readonly kind: 'block'
  readonly reader: string
  /** When the feed began, epoch milliseconds: sequences of another epoch belong to another feed. */
  readonly epoch: number
  /** Place in the reader's feed, decimal; each entry has the number after that of the entry before. */
  readonly sequence: string
  readonly block: FeedBlockHead
  readonly transactions: readonly FeedTransaction[]
  readonly events: readonly FeedEvent[]
}

/** A fork: everything at and above `block_num` is undone. */
export interface FeedFork {
  readonly kind: 'fork'
  readonly reader: string
  readonly epoch: number
  readonly sequence: string
  /** First undone block. */
  readonly block_num: number
}

/** Blocks without published events, because the reader was behind the head when it read them. */
export interface FeedGap {
  readonly kind: 'gap'
  readonly reader: string
  readonly epoch: number
  readonly sequence: string
  /** First block without published events; null when it is not known. */
  readonly from_block: number | null
  /** Last block without published events. */
  readonly to_block: number
}

/** An entry of a reader's feed: what is stored, in order, without a missing number. */
export type FeedEntry = FeedBlock | FeedFork | FeedGap

/** How far a reader is; never stored. `epoch` is 0 and `sequence` is "0" while there is no feed. */
export interface FeedLag {
  readonly kind: 'lag'
  readonly reader: string
  readonly epoch: number
  /** Newest entry of the feed, decimal. */
  readonly sequence: string
  /** Last committed block. */
  readonly block_num: number
  /** Where the reader is going: the head, or the last irreversible block when it reads only these. */
  readonly head_block: number
  readonly behind: number
  /** False while the reader is too far behind to publish blocks. */
  readonly live: boolean
}

/** Says that an entry is stored and too long for the bus. */
export interface FeedPointer {
  readonly kind: 'stored'
  readonly reader: string
  readonly epoch: number
  readonly sequence: string
}

/** What is sent on the bus. */
export type FeedMessage = FeedEntry | FeedLag | FeedPointer

/** Channel of the key-value store on which a reader's messages are sent. */
export function feedChannel(reader: string): string {
  return `feed:${reader}`
}

/** Longest message on the bus, in characters; a longer entry is announced by a pointer. */
export const MAX_BUS_CHARACTERS = 512 * 1024
