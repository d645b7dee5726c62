/* Text that an account wrote on the chain, made safe to stand in a line of ours. Pure. */

/** Longer text is cut: the line has other facts. */
const MOST_CHARACTERS = 64
/** Characters without a picture, and those that turn the direction of what follows. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu
const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'

/**
 * The text with unseen characters as visible escapes, shortened, and isolated from the direction of what stands next to it.
 * @param {string} text
 */
export function chainText(text) {
  const characters = Array.from(text.trim())
  const shown = characters.slice(0, MOST_CHARACTERS).join('').replaceAll(UNSEEN, escapeOf)
  const cut = characters.length > MOST_CHARACTERS ? `${shown}…` : shown
  // Letters of ASCII have one direction.
  return /^[ -~…]*$/.test(cut) ? cut : `${FIRST_STRONG_ISOLATE}${cut}${POP_ISOLATE}`
}

/** @param {string} character */
function escapeOf(character) {
  return character === ' ' ? ' ' : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`
}
