import type { EventEntry } from '../../core/live/index.ts'
import type { FeedBlock, FeedEvent, FeedTrace, FeedTransaction } from '../../core/feed/index.ts'
import { EventKeys } from './event-keys.ts'
import { Outgoing } from './outgoing.ts'

/** An event of a block with the record that it is about. */
export interface LiveEvent {
  readonly entry: EventEntry
  /** As in the catalogue. */
  readonly name: string
  readonly event: FeedEvent
  readonly transaction: FeedTransaction
  readonly trace: FeedTrace
  /** JSON text; undefined when there is none, as after a fork. */
  readonly record: string | undefined
  readonly keys: EventKeys
  /** For the websocket and the event stream. */
  readonly message: Outgoing
}

/** Key of an event's record among those of its kind. */
export function recordKey(entry: EventEntry, { id }: FeedEvent): string {
  // The id of a template alone is unique.
  return entry.entity === 'template' ? id.slice(id.lastIndexOf('/') + 1) : id
}

/** Puts an event and its record together. */
export function createLiveEvent(
  block: FeedBlock,
  event: FeedEvent,
  entry: EventEntry,
  record: string | undefined,
  cursor: string,
): LiveEvent {
  const transaction = block.transactions[event.transaction]!
  const trace = transaction.traces[event.trace]!
  return {
    entry,
    name: entry.event,
    event,
    transaction,
    trace,
    record,
    keys: new EventKeys(event, entry.entity, record),
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
      })
      return `${head.slice(0, -1)},"record":${record ?? 'null'}}`
    }),
  }
}
