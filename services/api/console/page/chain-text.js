/* Escapes text that an account wrote on the chain, so that the console can safely show the text within a line. */

/** Longest text that is not cut: a line has room for further facts. */
const MOST_CHARACTERS = 64
/** Invisible characters, and characters that change the direction of the following text. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu
const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'

/**
 * Shortens a text, shows invisible characters as escapes, and isolates the text from the writing direction of the
 * surrounding text.
 * @param {string} text
 */
export function chainText(text) {
  const characters = Array.from(text.trim())
  const shown = characters.slice(0, MOST_CHARACTERS).join('').replaceAll(UNSEEN, escapeOf)
  const cut = characters.length > MOST_CHARACTERS ? `${shown}…` : shown
  // ASCII has no letters of right-to-left scripts, so ASCII text needs no isolation.
  return /^[ -~…]*$/.test(cut) ? cut : `${FIRST_STRONG_ISOLATE}${cut}${POP_ISOLATE}`
}

/** @param {string} character */
function escapeOf(character) {
  return character === ' ' ? ' ' : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`
}
