import { eventCatalogue } from '../../core/live/index.ts'
import type { EventFamily } from '../../core/live/index.ts'
import type { EventKeys } from './event-keys.ts'

/** Names of the filters of a subscription. A filter is a list of values, of which at least one must match. */
export const filterNames = ['events', 'collections', 'templates', 'accounts', 'assets', 'listings'] as const

export type FilterName = (typeof filterNames)[number]

/** Descriptions of the values with which each filter is compared. The documentation shows them. */
export const filterMeanings: Readonly<Record<FilterName, string>> = {
  events: 'Names of events.',
  collections: 'Collections that the event or its record names.',
  templates: 'Ids of templates that the event or its record names.',
  accounts: 'Accounts that the action or the record names: owner, seller, buyer, sender, recipient, ...',
  assets: 'Ids of assets that the action or the record names.',
  listings: 'Ids of listings, offers or links, with or without the type in front: `7`, `sale/7`.',
}

/** Filters of one subscription. An event must match all filters that are present. */
export type Filter = Readonly<Partial<Record<FilterName, ReadonlySet<string>>>>

/** Error of an invalid filter in a subscription. */
export class FilterError extends Error {}

const MAX_VALUE_LENGTH = 64
const NAME = /^[a-z1-5.]{1,13}$/
const ID = /^\d{1,20}$/
const LISTING = /^(?:[a-z_]{1,24}\/)?\d{1,20}$/
const forms: Readonly<Record<Exclude<FilterName, 'events'>, readonly [RegExp, string]>> = {
  collections: [NAME, 'names of collections'],
  accounts: [NAME, 'names of accounts'],
  templates: [ID, 'decimal ids'],
  assets: [ID, 'decimal ids'],
  listings: [LISTING, 'decimal ids, such as 7 or sale/7'],
}

/**
 * Parses the filters of a subscription. A filter whose value is undefined counts as absent.
 * @param maxValues maximum number of values of all filters together.
 * @throws FilterError whose message names the filter and the expected values.
 */
export function readFilter(
  family: EventFamily,
  raw: Readonly<Partial<Record<FilterName, unknown>>>,
  maxValues: number,
): Filter {
  const filter: Partial<Record<FilterName, ReadonlySet<string>>> = {}
  let count = 0
  for (const name of filterNames) {
    const value = raw[name]
    if (value === undefined) continue
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    count += list.length
    if (count > maxValues) throw new FilterError(`the filters have more than ${maxValues} values`)
    filter[name] = new Set(list.map((item) => readValue(family, name, item)))
  }
  return filter
}

function readValue(family: EventFamily, name: FilterName, item: unknown): string {
  // Clients may send ids below 2^53 as JSON numbers.
  const text = typeof item === 'number' && Number.isSafeInteger(item) ? String(item) : item
  if (typeof text !== 'string' || text.length > MAX_VALUE_LENGTH) {
    throw new FilterError(`${name}: a value is not a text of at most ${MAX_VALUE_LENGTH} characters`)
  }
  if (name === 'events') {
    if (!eventNames(family).has(text)) {
      const known = [...eventNames(family)].join(', ')
      throw new FilterError(
        `events: this namespace has no event ${JSON.stringify(text)}; its events are ${known}`,
      )
    }
    return text
  }
  const [form, what] = forms[name]
  if (!form.test(text)) throw new FilterError(`${name}: ${JSON.stringify(text)} is not one of ${what}`)
  return text
}

const namesByFamily = new Map<EventFamily, ReadonlySet<string>>()

/** Names of the events of a contract family. */
function eventNames(family: EventFamily): ReadonlySet<string> {
  const known = namesByFamily.get(family)
  if (known) return known
  const names = new Set(eventCatalogue.filter((entry) => entry.family === family).map(({ event }) => event))
  namesByFamily.set(family, names)
  return names
}

/** Part of an event that is compared with filters. */
export interface Filtered {
  readonly name: string
  readonly keys: EventKeys
}

/** Whether an event matches all filters of a subscription. */
export function fits(filter: Filter, event: Filtered): boolean {
  for (const name of filterNames) {
    const wanted = filter[name]
    if (!wanted) continue
    if (name === 'events') {
      if (!wanted.has(event.name)) return false
    } else if (!event.keys[name].some((value) => wanted.has(value))) return false
  }
  return true
}

/** Canonical text of filters. Filters with the same text accept the same events. */
export function filterSignature(filter: Filter): string {
  return JSON.stringify(filterNames.map((name) => (filter[name] ? [...filter[name]].sort() : null)))
}
