import { distance } from 'fastest-levenshtein'

const LONGEST_COMPARED = 100

/**
 * Word of a list with the smallest edit distance to `word`, ignoring letter case. Returns the first of several words
 * with equal distance, and '' for an empty list.
 */
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

/**
 * Typos: up to one edit per LETTERS_PER_EDIT letters is a typo, more edits make a different word. Two swapped letters
 * count as two edits, so words of LEAST_SWAPPED letters or more may always have two edits.
 */
const LETTERS_PER_EDIT = 4
const SWAP_EDITS = 2
/** Minimum word length for two edits: two edits change most letters of a shorter word. */
const LEAST_SWAPPED = 4

/** Word of a list that a typo most likely meant; undefined if no word is close enough. */
export function likelyOf(word: string, known: readonly string[]): string | undefined {
  const nearest = nearestOf(word, known)
  const edits = distance(word.slice(0, LONGEST_COMPARED).toLowerCase(), nearest.toLowerCase())
  const few = word.length < LEAST_SWAPPED ? 1 : SWAP_EDITS
  return edits <= Math.max(few, Math.floor(word.length / LETTERS_PER_EDIT)) ? nearest : undefined
}
