import type { AddedFields, Json, Rule } from './rules.ts'
import { matchesPath } from './rules.ts'

type JsonObject = Record<string, Json>

/** Rules of a comparison of two JSON values. */
export interface Comparison {
  readonly rule: Required<Rule>
  readonly addedFields: readonly AddedFields[]
  /** Whether the actual value may have more members than the expected one. */
  readonly isSubset?: boolean
}

/** First difference of two values as text with its path; undefined if they are equal. */
export function findDifference(actual: Json, expected: Json, comparison: Comparison): string | undefined {
  return differ(actual, expected, { path: '' }, comparison)
}

/** Where the compared values are in the answers. */
interface Place {
  readonly path: string
  /** Object of the recorded answer that contains the value. */
  readonly parent?: JsonObject | undefined
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function join(path: string, key: string | number): string {
  return path === '' ? String(key) : `${path}.${key}`
}

function show(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}

function differ(
  actual: Json | undefined,
  expected: Json | undefined,
  place: Place,
  comparison: Comparison,
): string | undefined {
  const { path } = place
  // Numbers are compared as doubles: 0 equals -0.
  if (actual === expected) return undefined
  if (comparison.rule.volatile.some((pattern) => matchesPath(pattern, path))) return undefined
  const isPresent = actual !== undefined && expected !== undefined
  if (isPresent && isEither(actual, expected, place, comparison)) return undefined
  if (Array.isArray(actual) && Array.isArray(expected))
    return differArrays(actual, expected, path, comparison)
  if (isObject(actual) && isObject(expected)) return differObjects(actual, expected, path, comparison)
  return `${path}: ${show(actual)} instead of ${show(expected)}`
}

function isEither(actual: Json, expected: Json, { path, parent }: Place, { rule }: Comparison): boolean {
  const fits = ({ at, where }: { at: string; where?: Readonly<Record<string, Json>> }): boolean =>
    matchesPath(at, path) && Object.entries(where ?? {}).every(([key, value]) => isSame(parent?.[key], value))
  return rule.either.some(
    (either) =>
      fits(either) &&
      either.groups.some(
        (group) =>
          group.some((value) => isSame(value, actual)) && group.some((value) => isSame(value, expected)),
      ),
  )
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function differObjects(
  actual: JsonObject,
  expected: JsonObject,
  path: string,
  comparison: Comparison,
): string | undefined {
  const compared = withoutAdded(actual, expected, comparison.addedFields)
  const keys = comparison.isSubset
    ? Object.keys(expected)
    : [...new Set([...Object.keys(expected), ...Object.keys(compared)])]
  for (const key of keys) {
    const difference = differ(
      compared[key],
      expected[key],
      { path: join(path, key), parent: expected },
      comparison,
    )
    if (difference !== undefined) return difference
  }
  return undefined
}

/** Removes from the actual answer the members that newer releases have added, unless the recorded answer has them. */
function withoutAdded(actual: JsonObject, expected: JsonObject, added: readonly AddedFields[]): JsonObject {
  const drop = added
    .filter(({ when }) => when.every((key) => Object.hasOwn(actual, key)))
    .flatMap(({ keys }) => keys)
    .filter((key) => !Object.hasOwn(expected, key))
  if (drop.length === 0) return actual
  return Object.fromEntries(Object.entries(actual).filter(([key]) => !drop.includes(key)))
}

function differArrays(
  actual: readonly Json[],
  expected: readonly Json[],
  path: string,
  comparison: Comparison,
): string | undefined {
  if (actual.length !== expected.length) {
    return `${path}: ${actual.length} elements instead of ${expected.length}`
  }
  const loose = Object.entries(comparison.rule.loose).find(([pattern]) => matchesPath(pattern, path))
  if (!loose) {
    for (const [index, value] of expected.entries()) {
      const difference = differ(actual[index], value, { path: join(path, index) }, comparison)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  return differLoosely(actual, expected, { path, key: loose[1] }, comparison)
}

function differLoosely(
  actual: readonly Json[],
  expected: readonly Json[],
  { path, key }: { readonly path: string; readonly key: string | null },
  comparison: Comparison,
): string | undefined {
  const left = actual.map((value, index) => ({ value, index }))
  for (const [index, value] of expected.entries()) {
    const rank = key === null ? undefined : memberOf(value, key)
    if (key !== null && !isSame(memberOf(actual[index]!, key), rank)) {
      return `${join(path, index)}.${key}: ${show(memberOf(actual[index]!, key))} instead of ${show(rank)}`
    }
    const place = { path: join(path, index) }
    const at = left.findIndex((candidate) => differ(candidate.value, value, place, comparison) === undefined)
    if (at < 0) return `${join(path, index)}: no element equals ${show(value)}`
    left.splice(at, 1)
  }
  return undefined
}

function memberOf(value: Json, key: string): Json | undefined {
  return isObject(value) ? value[key] : undefined
}
