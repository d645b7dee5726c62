import type { Choices } from './choices.ts'

/** Name and text of a parameter. */
export type Given = readonly [name: string, value: string]

/** Replaces lone surrogates, which have no percent escape; a truncated text may end in one. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/** Encodes parameters as a query string or an urlencoded form. */
export function formText(parameters: readonly Given[]): string {
  return parameters
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(value))}`)
    .join('&')
}

/**
 * A parameter's value as a member of a JSON body: text, or in half of the cases the number, boolean or list that the
 * text stands for. A list with empty elements stays text: empty elements of a JSON array count as absent, empty
 * elements of a comma list do not.
 */
export function jsonValue(text: string, isList: boolean, random: Choices): unknown {
  if (random.chance(0.5)) return text
  // Convert a text to a number only if the number has the same JSON text: `-0` would become `0`.
  if (/^(?:0|-?[1-9]\d{0,14})$/.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  const elements = text.split(',')
  return isList && elements.length > 1 && !elements.includes('') ? elements : text
}
