import type { Declaration } from '../handlers/index.ts'

/** Greatest value of a `bigint` column. */
const GREATEST = 2n ** 63n - 1n

/**
 * Checks that the integers of an action or row fit their columns. The contracts number assets, offers and listings
 * from 1 or 2^40, so no valid id reaches 2^63.
 *
 * @param wide fields whose columns hold larger numbers; null for every field.
 * @throws RangeError that names the field and the number.
 */
export function requireStorable(value: unknown, wide: Declaration['fields']): void {
  if (wide === null || typeof value !== 'object' || value === null) return
  for (const [field, member] of Object.entries(value)) {
    const tooLarge = findTooLarge(member)
    if (tooLarge === undefined || wide.includes(field)) continue
    throw new RangeError(
      `field ${field} is ${tooLarge}: the contract counts from 1 or 2^40, and the database stores numbers up to ${GREATEST}`,
    )
  }
}

function findTooLarge(member: unknown): bigint | undefined {
  if (typeof member === 'bigint') return member > GREATEST ? member : undefined
  if (!Array.isArray(member) || typeof member[0] !== 'bigint') return undefined
  return (member as readonly bigint[]).find((each) => each > GREATEST)
}
