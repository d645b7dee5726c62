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
