import { distance } from 'fastest-levenshtein'

const LONGEST_COMPARED = 100

/** The word of a list that is fewest edits, letter case ignored; the first of equals; '' for an empty list. */
export function nearestOf(word: string, known: readonly string[]): string {
  const wanted = word.slice(0, LONGEST_COMPARED).toLowerCase()
  let best = ''
  let bestDistance = Infinity
  for (const candidate of known) {
    const edits = distance(wanted, candidate.toLowerCase())
    if (edits < bestDistance) {
      best = candidate
      bestDistance = edits
    }
  }
  return best
}

/** One edit for every so many letters is a slip; more make another word. Swapped letters are two edits. */
const LETTERS_PER_EDIT = 4
const SWAP_EDITS = 2
/** Half of a shorter word is not two letters that are swapped. */
const LEAST_SWAPPED = 4

/** The word of a list that another one is likely meant to be; undefined where none is that near. */
export function likelyOf(word: string, known: readonly string[]): string | undefined {
  const nearest = nearestOf(word, known)
  const edits = distance(word.slice(0, LONGEST_COMPARED).toLowerCase(), nearest.toLowerCase())
  const few = word.length < LEAST_SWAPPED ? 1 : SWAP_EDITS
  return edits <= Math.max(few, Math.floor(word.length / LETTERS_PER_EDIT)) ? nearest : undefined
}
