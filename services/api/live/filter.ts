import { eventCatalogue } from '../../core/live/index.ts'
import type { EventFamily } from '../../core/live/index.ts'
import type { EventKeys } from './event-keys.ts'

/** Filters of a subscription; each is a list of which one value has to match. */
export const filterNames = ['events', 'collections', 'templates', 'accounts', 'assets', 'listings'] as const

/** Name of a filter. */
export type FilterName = (typeof filterNames)[number]

/** What each filter is compared with; for people. */
export const filterMeanings: Readonly<Record<FilterName, string>> = {
  events: 'Names of events.',
  collections: 'Collections that the event or its record names.',
  templates: 'Ids of templates that the event or its record names.',
  accounts: 'Accounts that the action or the record names: owner, seller, buyer, sender, recipient, ...',
  assets: 'Ids of assets that the action or the record names.',
  listings:
    'Ids of sales, auctions, buy offers, template buy offers, offers or links, with or without the kind before them: `7`, `sale/7`.',
}

/** One subscription: every filter that is there has to fit. */
export type Filter = Readonly<Partial<Record<FilterName, ReadonlySet<string>>>>

/** Problem of a filter. */
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
 * Reads the filters of a subscription; a name whose value is undefined counts as absent.
 *
 * @param maxValues most values of all filters together.
 * @throws FilterError naming the filter and what it has to be.
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
    if (count > maxValues) throw new FilterError(`more than ${maxValues} values in the filters`)
    filter[name] = new Set(list.map((item) => readValue(family, name, item)))
  }
  return filter
}

function readValue(family: EventFamily, name: FilterName, item: unknown): string {
  // Ids below 2^53 may come as numbers.
  const text = typeof item === 'number' && Number.isSafeInteger(item) ? String(item) : item
  if (typeof text !== 'string' || text.length > MAX_VALUE_LENGTH) {
    throw new FilterError(`${name}: a value is not a text of at most ${MAX_VALUE_LENGTH} characters`)
  }
  if (name === 'events') {
    if (!eventNames(family).has(text)) {
      const known = [...eventNames(family)].join(', ')
      throw new FilterError(`events: there is no ${JSON.stringify(text)} here, only ${known}`)
    }
    return text
  }
  const [form, what] = forms[name]
  if (!form.test(text)) throw new FilterError(`${name}: ${JSON.stringify(text)} is not one of ${what}`)
  return text
}

const namesByFamily = new Map<EventFamily, ReadonlySet<string>>()

/** Names of the events of a family. */
function eventNames(family: EventFamily): ReadonlySet<string> {
  const known = namesByFamily.get(family)
  if (known) return known
  const names = new Set(eventCatalogue.filter((entry) => entry.family === family).map(({ event }) => event))
  namesByFamily.set(family, names)
  return names
}

/** What subscriptions see of an event. */
export interface Filtered {
  readonly name: string
  readonly keys: EventKeys
}

/** Whether an event matches a subscription. */
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

/** The same text for filters that let the same events through. */
export function filterSignature(filter: Filter): string {
  return JSON.stringify(filterNames.map((name) => (filter[name] ? [...filter[name]].sort() : null)))
}
