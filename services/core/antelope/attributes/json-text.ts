import { withoutNul } from './format.ts'

// Finds escapes in JSON text that jsonb may refuse: U+0000 and surrogates (JSON.stringify escapes only lone
// surrogates). Also matches an escaped backslash followed by `u0000`; `clean` then returns an equal value.
const SUSPICIOUS = /\\u(?:0000|d[89a-f])/

/**
 * Formats attributes as JSON text that PostgreSQL accepts as `jsonb`: U+0000 becomes a space, a lone surrogate U+FFFD,
 * NaN and infinities `null`, a bigint decimal text. Own keys named `__proto__` are preserved.
 */
export function attributesToJsonText(attributes: Readonly<Record<string, unknown>>): string {
  try {
    const text = JSON.stringify(attributes)
    if (!SUSPICIOUS.test(text)) return text
  } catch (error) {
    // JSON.stringify throws a TypeError for a bigint. Decoded data contain no other value for which JSON.stringify
    // throws.
    if (!(error instanceof TypeError)) throw error
  }
  return JSON.stringify(clean(attributes, 0))
}

const MAX_DEPTH = 512

function clean(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new RangeError(`values are nested more than ${MAX_DEPTH} deep`)
  if (typeof value === 'string') return cleanText(value)
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const result = Object.create(null) as Record<string, unknown>
  for (const [key, member] of Object.entries(value)) result[cleanText(key)] = clean(member, depth + 1)
  return result
}

function cleanText(value: string): string {
  return withoutNul(value).replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    '\ufffd',
  )
}
