import type { Choices } from './choices.ts'

/** A parameter and its text. */
export type Given = readonly [name: string, value: string]

/** A text that was cut may end in half a character, which has no percent escape. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/** Parameters as a query string or an urlencoded form. */
export function formText(parameters: readonly Given[]): string {
  return parameters
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(value))}`)
    .join('&')
}

/**
 * The text of a parameter as a member of a JSON body: half of those that are numbers, booleans or lists as such. Empty
 * elements of an array count as absent, those of a comma list do not.
 */
export function jsonValue(text: string, isList: boolean, random: Choices): unknown {
  if (random.chance(0.5)) return text
  // Only where JSON writes the same text: -0 has none.
  if (/^(?:0|-?[1-9]\d{0,14})$/.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  const elements = text.split(',')
  return isList && elements.length > 1 && !elements.includes('') ? elements : text
}
