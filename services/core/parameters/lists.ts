import { Complaint } from '../endpoint/index.ts'
import type { NamedLists } from '../endpoint/index.ts'
import { MAX_GIVEN_ITEMS, MAX_LIST_ITEMS, MAX_NAMED_LISTS } from '../limits/index.ts'

/** Prefix of a list element that refers to a named list; the name follows. */
export const NAMED_LIST = '$list:'

/** Maximum length of a reference to a named list. */
const MAX_REFERENCE_LENGTH = 128

const TOO_MANY = 'has too many elements'

/** How to parse the elements of a list. */
export interface Elements<T> {
  readonly list: 'comma' | 'named'
  /**
   * Checks the length of an element of a list parameter.
   * @throws Complaint if the text is longer than any valid element.
   */
  readonly checkLength: (text: string) => void
  /**
   * Parses an element of a list parameter.
   * @throws Complaint for an invalid text.
   */
  readonly read: (text: string) => T
  /**
   * Whether an item of a named list is a valid element. An invalid item matches nothing. The item is not refused,
   * because the client did not write the item.
   */
  readonly fits?: (item: string) => boolean
}

/**
 * Parses a comma-separated list and removes duplicates.
 * @throws Complaint, synchronously or by the promise.
 */
export function readList<T>(
  text: string,
  elements: Elements<T>,
  lists: NamedLists,
): readonly T[] | Promise<readonly T[]> {
  const texts = text.split(',', MAX_GIVEN_ITEMS + 1)
  if (texts.length > MAX_GIVEN_ITEMS)
    throw new Complaint(TOO_MANY, `the list has more than ${MAX_GIVEN_ITEMS} items`)
  for (const each of texts) {
    if (elements.list === 'comma' || !each.startsWith(NAMED_LIST)) elements.checkLength(each)
    else if (each.length > MAX_REFERENCE_LENGTH) throw tooLong(MAX_REFERENCE_LENGTH)
  }
  const readAll = (items: readonly string[]): readonly T[] => [...new Set(items.map(elements.read))]
  if (elements.list === 'comma' || !text.includes(NAMED_LIST)) return readAll(texts)
  return expandLists(texts, elements, lists).then(readAll)
}

/** Complaint about a text above the maximum length. */
export function tooLong(most: number, complaint = `must be text of at most ${most} characters`): Complaint {
  return new Complaint(complaint, `the text is longer than ${most} characters`)
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
    const found = (await lists(text.slice(NAMED_LIST.length))) ?? []
    for (const item of found) if (fits(item)) items.push(item)
    if (items.length > MAX_LIST_ITEMS)
      throw new Complaint(TOO_MANY, `its named lists contain more than ${MAX_LIST_ITEMS} items`)
  }
  return items
}
