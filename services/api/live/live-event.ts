import type { EventEntry } from '../../core/live/index.ts'
import type { FeedBlock, FeedEvent, FeedTrace, FeedTransaction } from '../../core/feed/index.ts'
import { cursorAfter, encodeCursor } from '../../core/feed-reader/index.ts'
import type { EventKeys } from './event-keys.ts'
import { Outgoing } from './outgoing.ts'

/** An event with its position in the block. */
export interface PlacedEvent {
  /** Index of the event among all events of the block. */
  readonly index: number
  readonly event: FeedEvent
  readonly entry: EventEntry
  /** Name of the event in messages and filters, for example `sale_purchased`. */
  readonly name: string
  /** Filter keys of the event; undefined until they have been read. */
  keys: EventKeys | undefined
}

/**
 * Record of an event as JSON text. For a record above the size limit only `tooLargePath` is set. If the record does not
 * exist any more, for example after a fork, neither member is set.
 */
export interface EventRecord {
  readonly text?: string
  readonly tooLargePath?: string
}

/** An event of a block with its record and the encoded message. */
export interface LiveEvent extends PlacedEvent {
  readonly transaction: FeedTransaction
  readonly trace: FeedTrace
  readonly record: EventRecord
  /** Message for the clients of websockets and event streams. */
  readonly message: Outgoing
}

/** Key of an event's record, unique among the records of its type. */
export function recordKey(entry: EventEntry, { id }: FeedEvent): string {
  // The id of a template event begins with the collection name. Template ids are unique without the name.
  return entry.entity === 'template' ? id.slice(id.lastIndexOf('/') + 1) : id
}

/** Combines an event with its record, and creates the message for clients. */
export function createLiveEvent(block: FeedBlock, placed: PlacedEvent, record: EventRecord): LiveEvent {
  const { index, event, entry } = placed
  const transaction = block.transactions[event.transaction]!
  const trace = transaction.traces[event.trace]!
  const isLast = index === block.events.length - 1
  const cursor = encodeCursor(cursorAfter(block, isLast ? null : index + 1))
  return {
    ...placed,
    ...{ transaction, trace, record },
    message: new Outgoing('event', cursor, () => {
      const { num, id, time } = block.block
      const head = JSON.stringify({
        type: 'event',
        event: entry.event,
        cursor,
        block: { num, id, time },
        transaction: transaction.id,
        global_sequence: trace.global_sequence,
        action: {
          account: trace.account,
          name: trace.name,
          authorization: trace.authorization,
          ...(trace.data === undefined ? {} : { data: trace.data }),
        },
        entity: entry.entity,
        id: event.id,
        ...largeMembers(record),
      })
      return `${head.slice(0, -1)},"record":${record.text ?? 'null'}}`
    }),
  }
}

/** Message members that replace a record above the size limit; undefined for a smaller record. */
export function largeMembers({
  tooLargePath,
}: EventRecord): { readonly too_large: true; readonly path: string } | undefined {
  return tooLargePath === undefined ? undefined : { too_large: true, path: tooLargePath }
}
