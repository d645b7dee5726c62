import type { KeyName } from './event-keys.ts'
import { filterSignature, fits } from './filter.ts'
import type { Filter, Filtered } from './filter.ts'

/** A filter that all subscriptions with an identical filter share. */
export interface SharedFilter<Subscriber> {
  readonly filter: Filter
  /** Number of the filter, unique within its index. */
  readonly serial: number
  readonly subscribers: Set<Subscriber>
}

/**
 * Order of the keys by which filters are indexed. A filter is stored under the values of the first key that it uses.
 * Keys with the rarest values come first, so that an event is compared with the fewest filters.
 */
const accessOrder: readonly KeyName[] = ['assets', 'listings', 'templates', 'accounts', 'collections']

/** Index key of filters that accept every event name. */
const ANY_EVENT = '*'

/** Approximate memory of a filter in the index without its values and index entries, bytes. */
const FILTER_BYTES = 1_024
/** Approximate memory of each value of a filter without its text, bytes. */
const VALUE_BYTES = 80
/** Approximate memory of each index entry of a filter, bytes. */
const PLACE_BYTES = 120

/** Filters that accept the same event name, or filters that accept every event name. */
class Bucket<Subscriber> {
  /** Filters that compare only the event name. */
  readonly plain = new Set<SharedFilter<Subscriber>>()
  readonly byValue = new Map<KeyName, Map<string, Set<SharedFilter<Subscriber>>>>()

  get isEmpty(): boolean {
    return this.plain.size === 0 && this.byValue.size === 0
  }

  add(shared: SharedFilter<Subscriber>): void {
    const access = accessOf(shared.filter)
    if (access === undefined) {
      this.plain.add(shared)
      return
    }
    const values = this.byValue.get(access) ?? new Map<string, Set<SharedFilter<Subscriber>>>()
    this.byValue.set(access, values)
    for (const value of shared.filter[access]!) {
      const known = values.get(value)
      if (known) known.add(shared)
      else values.set(value, new Set([shared]))
    }
  }

  remove(shared: SharedFilter<Subscriber>): void {
    this.plain.delete(shared)
    const access = accessOf(shared.filter)
    const values = access === undefined ? undefined : this.byValue.get(access)
    if (access === undefined || !values) return
    for (const value of shared.filter[access]!) {
      const known = values.get(value)
      known?.delete(shared)
      if (known?.size === 0) values.delete(value)
    }
    if (values.size === 0) this.byValue.delete(access)
  }

  /** Adds the filters that match an event to `found`. */
  match(event: Filtered, found: Set<SharedFilter<Subscriber>>): void {
    for (const shared of this.plain) found.add(shared)
    for (const [access, values] of this.byValue) {
      for (const value of event.keys[access]) {
        for (const shared of values.get(value) ?? []) {
          if (!found.has(shared) && fits(shared.filter, event)) found.add(shared)
        }
      }
    }
  }
}

/**
 * Inverted index of subscriptions by filter value. Matching an event visits only filters that share a value with the
 * event.
 */
export class FilterIndex<Subscriber> {
  readonly #bySignature = new Map<string, SharedFilter<Subscriber>>()
  readonly #byEvent = new Map<string, Bucket<Subscriber>>()
  #serial = 0

  /** Approximate memory that a filter takes in the index, bytes. */
  static bytesOf(filter: Filter): number {
    const access = accessOf(filter)
    const places = (filter.events?.size ?? 1) * (access === undefined ? 1 : filter[access]!.size)
    let bytes = FILTER_BYTES + PLACE_BYTES * places
    for (const values of Object.values(filter)) {
      for (const value of values) bytes += VALUE_BYTES + 2 * value.length
    }
    return bytes
  }

  /**
   * Adds a subscription.
   * @param create creates the subscription from the filter that identical subscriptions share.
   */
  add<S extends Subscriber>(filter: Filter, create: (shared: SharedFilter<Subscriber>) => S): S {
    const signature = filterSignature(filter)
    let shared = this.#bySignature.get(signature)
    if (!shared) {
      shared = { filter, serial: this.#serial++, subscribers: new Set() }
      this.#bySignature.set(signature, shared)
      for (const name of filter.events ?? [ANY_EVENT]) {
        const bucket = this.#byEvent.get(name) ?? new Bucket()
        this.#byEvent.set(name, bucket)
        bucket.add(shared)
      }
    }
    const subscriber = create(shared)
    shared.subscribers.add(subscriber)
    return subscriber
  }

  remove(shared: SharedFilter<Subscriber>, subscriber: Subscriber): void {
    shared.subscribers.delete(subscriber)
    if (shared.subscribers.size > 0) return
    this.#bySignature.delete(filterSignature(shared.filter))
    for (const name of shared.filter.events ?? [ANY_EVENT]) {
      const bucket = this.#byEvent.get(name)
      bucket?.remove(shared)
      if (bucket?.isEmpty) this.#byEvent.delete(name)
    }
  }

  /** Whether a subscription may match events with this name. */
  admits(name: string): boolean {
    return this.#byEvent.has(name) || this.#byEvent.has(ANY_EVENT)
  }

  /**
   * Whether a subscription to events with this name also compares filter keys, so that the keys of such events must be
   * read.
   */
  needsKeys(name: string): boolean {
    return [name, ANY_EVENT].some((each) => (this.#byEvent.get(each)?.byValue.size ?? 0) > 0)
  }

  match(event: Filtered): ReadonlySet<SharedFilter<Subscriber>> {
    const found = new Set<SharedFilter<Subscriber>>()
    this.#byEvent.get(event.name)?.match(event, found)
    this.#byEvent.get(ANY_EVENT)?.match(event, found)
    return found
  }
}

function accessOf(filter: Filter): KeyName | undefined {
  return accessOrder.find((name) => filter[name] !== undefined)
}

/** Whether a filter compares more than the event name. */
export function needsKeys(filter: Filter): boolean {
  return accessOf(filter) !== undefined
}
