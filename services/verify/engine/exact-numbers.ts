/** Matches texts that may contain a number which JavaScript prints in another form. */
const MAYBE_INEXACT = /\.\d*0(?!\d)|[\d.]{16}/
/** The strings and numbers of a JSON text of PostgreSQL, which prints every number without an exponent. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?/g

/**
 * Parses the JSON text of a database row. A number that JavaScript would print in another form, such as 1.0 or a number
 * with more digits than a double has, becomes a string. Such a string differs from every number of the chain.
 */
export function parseExactly(text: string): unknown {
  if (!MAYBE_INEXACT.test(text)) return JSON.parse(text)
  return JSON.parse(
    text.replace(TOKENS, (token) =>
      token.startsWith('"') || withoutExponent(Number(token)) === token ? token : `"${token}"`,
    ),
  )
}

/** Decimal text of a number, without an exponent. */
function withoutExponent(value: number): string {
  const [mantissa, exponent] = String(Math.abs(value)).split('e')
  const sign = value < 0 ? '-' : ''
  if (exponent === undefined) return sign + mantissa!
  const [whole, fraction = ''] = mantissa!.split('.')
  const digits = whole! + fraction
  const point = whole!.length + Number(exponent)
  return sign + (point > 0 ? digits.padEnd(point, '0') : `0.${'0'.repeat(-point)}${digits}`)
}
