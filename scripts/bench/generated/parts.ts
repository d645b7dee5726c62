/**
 * Parts of a generated database that can be left out. Collections, schemas, templates and assets are always written,
 * and blocks if transfers or logs are.
 */
export const generatedParts = ['transfers', 'logs', 'offers', 'market'] as const

/** Name of a part of a generated database. */
export type GeneratedPart = (typeof generatedParts)[number]

/**
 * Parses a comma list of parts; without a list returns all parts.
 * @throws RangeError for an unknown part.
 */
export function readParts(list: string | undefined): readonly GeneratedPart[] {
  if (list === undefined) return generatedParts
  const names = new Set(list.split(','))
  const parts = generatedParts.filter((part) => names.delete(part))
  if (names.size > 0) {
    throw new RangeError(
      `unknown part of a generated database: ${[...names].join(', ')}; the parts are ${generatedParts.join(', ')}`,
    )
  }
  return parts
}
