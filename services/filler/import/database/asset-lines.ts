import { repairAttributes } from './attribute-fixes.ts'
import type { FieldsToRepair } from './attribute-fixes.ts'

/**
 * Positions of the immutable and the mutable data in a COPY line of an asset. The line starts with asset id,
 * collection, schema, immutable data and mutable data.
 */
const IMMUTABLE = 3
const MUTABLE = 4

/**
 * Completes a COPY text line of an asset: appends the global sequence of the mint of the asset, and repairs the
 * attributes that `fieldsToRepair` names.
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
    // jsonb output contains no control characters, so the backslash is the only character in jsonb text that COPY
    // escapes.
    values[place] = repairAttributes(text.replaceAll('\\\\', '\\'), fields).replaceAll('\\', '\\\\')
  }
  return values.join('\t')
}
