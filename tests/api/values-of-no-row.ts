/** Probability that a filter value is replaced by a value that no row has. */
const SHARE = 0.06
/** Filters that reject unknown values: enumerations, and values with a checksum. */
const refused = new Set(['state', 'symbol', 'public_key'])

/**
 * Replaces a filter's value now and then by a value that no row has, such as a mistyped name, or an id of another
 * chain.
 */
export function orOfNoRow(name: string, value: string, random: () => number): string {
  if (random() >= SHARE || refused.has(name) || /^(true|false|null)$/.test(value)) return value
  return /^[\d,]+$/.test(value) ? '2000000000' : 'nobody'
}
