import type { EventEntity } from '../../core/live/index.ts'
import type { FeedEvent } from '../../core/feed/index.ts'
import type { RecordKeys } from '../endpoint/index.ts'

/** Kinds of values by which events can be filtered. */
export type KeyName = 'collections' | 'templates' | 'accounts' | 'assets' | 'listings'

/** Filter keys of one event: the values that are compared with filters. */
export type EventKeys = Readonly<Record<KeyName, readonly string[]>>

/** Record types to which the filter `listings` does not apply. */
const unlisted: ReadonlySet<EventEntity> = new Set(['asset', 'transfer', 'collection', 'schema', 'template'])

/**
 * Merges the filter values of an event's action with the values of its record.
 * @param record undefined if the event has no record.
 */
export function eventKeys(
  { keys, id }: FeedEvent,
  entity: EventEntity,
  record: RecordKeys | undefined,
): EventKeys {
  return {
    collections: [...(keys.collections ?? []), ...(record?.collections ?? [])],
    templates: [...(keys.templates ?? []), ...(record?.templates ?? [])],
    accounts: [...(keys.accounts ?? []), ...(record?.accounts ?? [])],
    assets: [...(keys.assets ?? []), ...(record?.assets ?? [])],
    listings: unlisted.has(entity) ? [] : [id, `${entity}/${id}`],
  }
}
