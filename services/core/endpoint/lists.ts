import { Complaint } from './parameter.ts'
import type { NamedLists } from './parameter.ts'

/** Most elements of one list parameter, those of named lists included; a page has at most a few thousand rows. */
const MAX_LIST_ITEMS = 50_000
/** Most named lists that one parameter may refer to. */
const MAX_NAMED_LISTS = 50
/** What an element of a list begins with that stands for the items of a named list; its name follows. */
export const NAMED_LIST = '$list:'

const TOO_MANY = 'has too many elements'

/** The elements of a list. */
export interface Elements<T> {
  readonly list: 'comma' | 'named'
  /** @throws Complaint when the text is no element. */
  readonly read: (text: string) => T
  /**
   * Whether an item of a named list can be an element. One that cannot matches nothing; it is not the client's
   * mistake.
   */
  readonly fits?: (item: string) => boolean
}

/** Reads what stands between commas; nothing is there twice. @throws Complaint, also by the promise. */
export function readList<T>(
  text: string,
  elements: Elements<T>,
  lists: NamedLists,
): readonly T[] | Promise<readonly T[]> {
  const texts = text.split(',')
  if (texts.length > MAX_LIST_ITEMS) throw new Complaint(TOO_MANY)
  const readAll = (items: readonly string[]): readonly T[] => [...new Set(items.map(elements.read))]
  if (elements.list === 'comma' || !text.includes(NAMED_LIST)) return readAll(texts)
  return expandLists(texts, elements, lists).then(readAll)
}

async function expandLists<T>(
  texts: readonly string[],
  { fits = () => true }: Elements<T>,
  lists: NamedLists,
): Promise<string[]> {
  const items: string[] = []
  let named = 0
  for (const text of new Set(texts)) {
    if (!text.startsWith(NAMED_LIST)) {
      items.push(text)
      continue
    }
    if (++named > MAX_NAMED_LISTS) throw new Complaint(TOO_MANY)
    for (const item of await lists(text.slice(NAMED_LIST.length))) if (fits(item)) items.push(item)
    if (items.length > MAX_LIST_ITEMS) throw new Complaint(TOO_MANY)
  }
  return items
}
