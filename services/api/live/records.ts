import { eventOfAction } from '../../core/live/index.ts'
import type { EventEntry } from '../../core/live/index.ts'
import type { FeedBlock, FeedEvent } from '../../core/feed/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import type { Namespace } from '../endpoint/index.ts'
import { jsonString } from '../json/index.ts'
import type { Json } from '../json/index.ts'
import { recordKey } from './live-event.ts'

/** An event of a block with its place in it. */
export interface PlacedEvent {
  /** Index among all events of the block. */
  readonly index: number
  readonly event: FeedEvent
  readonly entry: EventEntry
}

/** The events of a block that a namespace publishes. */
export function eventsOf(block: FeedBlock, family: string, contract: string): PlacedEvent[] {
  return block.events.flatMap((event, index) => {
    if (event.family !== family || event.contract !== contract) return []
    const action = block.transactions[event.transaction]?.traces[event.trace]?.name ?? ''
    const entry = eventOfAction(family, action)
    return entry ? [{ index, event, entry }] : []
  })
}

/** Records by kind and key. */
export type FoundRecords = (entry: EventEntry, event: FeedEvent) => string | undefined

/** Reads the records of events, each once, on one connection. */
export async function readRecords(
  database: RequestDatabase,
  namespace: Namespace,
  events: readonly PlacedEvent[],
): Promise<FoundRecords> {
  const wanted = new Map<string, Set<string>>()
  for (const { entry, event } of events) {
    const keys = wanted.get(entry.entity) ?? new Set()
    wanted.set(entry.entity, keys.add(recordKey(entry, event)))
  }
  const found = new Map<string, ReadonlyMap<string, Json>>()
  if (wanted.size > 0) {
    await database.run(
      async (session) => {
        for (const [kind, keys] of wanted) {
          const reader = namespace.records[kind]
          if (reader) found.set(kind, await reader.read(session, [...keys]))
        }
      },
      { caller: `${namespace.name} live`, isBrief: true },
    )
  }
  return (entry, event) => {
    const json = found.get(entry.entity)?.get(recordKey(entry, event))
    return json === undefined ? undefined : jsonString(json)
  }
}
