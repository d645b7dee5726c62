import type { FeedEvent } from '../../core/feed/index.ts'
import type { EventEntry } from '../../core/live/index.ts'
import type { RequestDatabase, Session } from '../database/index.ts'
import type { Namespace, RecordKeys, RecordReader } from '../endpoint/index.ts'
import { jsonSize, jsonString } from '../json/index.ts'
import { eventKeys } from './event-keys.ts'
import { recordKey } from './live-event.ts'
import type { EventRecord, PlacedEvent } from './live-event.ts'

/** Maximum size of a record that is sent with its event, bytes. */
export const RECORD_BYTES = 1024 * 1024

/** Reads the records of events. A record of several events is read once. */
export class EventRecords {
  readonly #database: RequestDatabase
  readonly #namespace: Namespace
  /** URL path of the namespace. */
  readonly #path: string

  constructor(database: RequestDatabase, namespace: Namespace, path: string) {
    this.#database = database
    this.#namespace = namespace
    this.#path = path
  }

  /** Reads from the database the filter keys of events, and lower bounds of the sizes of their records. */
  async readKeys(events: readonly PlacedEvent[], sizes: Map<string, number>): Promise<void> {
    await this.#read(events, async (session, reader, own) => {
      const found = await reader.readKeys(session, [...own.keys()])
      for (const [key, placed] of own) {
        const keys = found.get(key)
        for (const each of placed) note(each, keys, sizes)
      }
    })
  }

  /**
   * Reads the records of events from the database. `readKeys` must have read the filter keys of the events and the
   * sizes of the records.
   */
  async read(
    events: readonly PlacedEvent[],
    sizes: ReadonlyMap<string, number>,
  ): Promise<Map<PlacedEvent, EventRecord>> {
    const records = new Map<PlacedEvent, EventRecord>()
    const small = events.filter((placed) => {
      const isSmall = (sizes.get(nameOf(placed.entry, placed.event)) ?? 0) <= RECORD_BYTES
      if (!isSmall) records.set(placed, this.#tooLarge(placed))
      return isSmall
    })
    await this.#read(small, async (session, reader, own) => {
      const found = await reader.read(session, [...own.keys()])
      for (const [key, placed] of own) {
        const json = found.get(key)
        if (json === undefined) continue
        const isLarge = jsonSize(json) > RECORD_BYTES
        const text = isLarge ? '' : jsonString(json)
        for (const each of placed) records.set(each, isLarge ? this.#tooLarge(each) : { text })
      }
    })
    return records
  }

  #tooLarge({ entry, event }: PlacedEvent): EventRecord {
    return { tooLargePath: this.#path + this.#namespace.records[entry.entity]!.path(event.id) }
  }

  /**
   * Groups events by record type and record key. Runs `task` once for each record type, all on one database connection.
   */
  async #read(
    events: readonly PlacedEvent[],
    task: (session: Session, reader: RecordReader, own: ReadonlyMap<string, PlacedEvent[]>) => Promise<void>,
  ): Promise<void> {
    if (events.length === 0) return
    const kinds = new Map<string, Map<string, PlacedEvent[]>>()
    for (const placed of events) {
      const { entry, event } = placed
      const own = kinds.get(entry.entity) ?? new Map<string, PlacedEvent[]>()
      kinds.set(entry.entity, own)
      const key = recordKey(entry, event)
      const same = own.get(key)
      if (same) same.push(placed)
      else own.set(key, [placed])
    }
    await this.#database.run(
      async (session) => {
        for (const [kind, own] of kinds) {
          const reader = this.#namespace.records[kind]
          if (reader) await task(session, reader, own)
        }
      },
      { caller: `${this.#namespace.name} live`, isBrief: true },
    )
  }
}

function note(placed: PlacedEvent, keys: RecordKeys | undefined, sizes: Map<string, number>): void {
  placed.keys = eventKeys(placed.event, placed.entry.entity, keys)
  if (keys) sizes.set(nameOf(placed.entry, placed.event), keys.bytes)
}

function nameOf(entry: EventEntry, event: FeedEvent): string {
  return `${entry.entity} ${recordKey(entry, event)}`
}
