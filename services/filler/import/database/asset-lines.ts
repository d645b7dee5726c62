import { repairAttributes } from './attribute-fixes.ts'
import type { FieldsToRepair } from './attribute-fixes.ts'

/** Columns of a line up to the attributes: id, collection, schema, immutable and mutable data. */
const IMMUTABLE = 3
const MUTABLE = 4

/**
 * Completes a line of COPY text of an asset: the sequence of its mint at the end, lists of bytes as the contract wrote
 * them.
 *
 * @param line without its line feed.
 */
export function completeAssetLine(
  line: string,
  sequences: ReadonlyMap<string, string>,
  fieldsToRepair: FieldsToRepair,
): string {
  const sequence = sequences.get(line.slice(0, line.indexOf('\t'))) ?? '\\N'
  return `${fieldsToRepair.size === 0 ? line : repairLine(line, fieldsToRepair)}\t${sequence}\n`
}

function repairLine(line: string, fieldsToRepair: FieldsToRepair): string {
  const values = line.split('\t')
  const fields = fieldsToRepair.get(`${values[1] ?? ''}/${values[2] ?? ''}`)
  if (fields === undefined) return line
  for (const place of [IMMUTABLE, MUTABLE]) {
    const text = values[place]!
    if (text === '\\N') continue
    // jsonb prints no control characters: a backslash is all that COPY escapes in it.
    values[place] = repairAttributes(text.replaceAll('\\\\', '\\'), fields).replaceAll('\\', '\\\\')
  }
  return values.join('\t')
}
