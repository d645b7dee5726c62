import { Complaint } from '../endpoint/index.ts'
import type { NamedLists } from '../endpoint/index.ts'
import { MAX_GIVEN_ITEMS, MAX_LIST_ITEMS, MAX_NAMED_LISTS } from '../limits/index.ts'

/** What an element of a list begins with that stands for the items of a named list; its name follows. */
export const NAMED_LIST = '$list:'

/** Most letters that a reference to a named list has. */
const MAX_REFERENCE_LENGTH = 128

const TOO_MANY = 'has too many elements'

/** The elements of a list. */
export interface Elements<T> {
  readonly list: 'comma' | 'named'
  /** @throws Complaint when the text is longer than an element can be. */
  readonly checkLength: (text: string) => void
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
  const texts = text.split(',', MAX_GIVEN_ITEMS + 1)
  if (texts.length > MAX_GIVEN_ITEMS)
    throw new Complaint(TOO_MANY, `it has more than ${MAX_GIVEN_ITEMS} items`)
  for (const each of texts) {
    if (elements.list === 'comma' || !each.startsWith(NAMED_LIST)) elements.checkLength(each)
    else if (each.length > MAX_REFERENCE_LENGTH) throw tooLong(MAX_REFERENCE_LENGTH)
  }
  const readAll = (items: readonly string[]): readonly T[] => [...new Set(items.map(elements.read))]
  if (elements.list === 'comma' || !text.includes(NAMED_LIST)) return readAll(texts)
  return expandLists(texts, elements, lists).then(readAll)
}

/** A text that is longer than its kind can be. */
export function tooLong(most: number, complaint = `must be text of at most ${most} characters`): Complaint {
  return new Complaint(complaint, `it is longer than ${most} characters`)
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
    if (items.length > MAX_LIST_ITEMS)
      throw new Complaint(TOO_MANY, `its lists have more than ${MAX_LIST_ITEMS} items`)
  }
  return items
}
