import type { EventEntity } from '../../core/live/index.ts'
import type { FeedEvent } from '../../core/feed/index.ts'
import type { RecordKeys } from '../endpoint/index.ts'

/** What events are found by. */
export type KeyName = 'collections' | 'templates' | 'accounts' | 'assets' | 'listings'

/** Values by which an event can be filtered. */
export type EventKeys = Readonly<Record<KeyName, readonly string[]>>

const listings: ReadonlySet<EventEntity> = new Set([
  'offer',
  'sale',
  'auction',
  'buyoffer',
  'template_buyoffer',
  'link',
])

/** The values of an event's action together with those of its record; `record` is undefined when there is none. */
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
    listings: listings.has(entity) ? [id, `${entity}/${id}`] : [],
  }
}
