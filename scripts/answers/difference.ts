type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A difference between two JSON values. */
export interface Difference {
  /** Path of the field with `[]` for any element, for example `data[].owner`; empty for the whole answer. */
  readonly path: string
  /** Kind of the difference, for example `value` or `type string/null`. */
  readonly kind: string
  /** The values of both answers, truncated. */
  readonly shown: readonly [a: string, b: string]
}

/** Maximum length of a value in a report, characters; a longer value is truncated. */
const MAX_SHOWN = 120

/** Members that identify a record, most specific first. */
const identities = [
  'sale_id',
  'auction_id',
  'buyoffer_id',
  'link_id',
  'offer_id',
  'transfer_id',
  'log_id',
  'asset_id',
  'template_id',
  'schema_name',
  'collection_name',
  'marketplace_name',
  'account',
  'time',
]

/** Formats a value for a report, in one line. */
export function showValue(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/** All differences between two JSON values; each combination of path and kind once. */
export function findDifferences(a: unknown, b: unknown): Difference[] {
  const found = new Map<string, Difference>()
  const note = (difference: Difference): void => {
    const key = `${difference.path}\n${difference.kind}`
    if (!found.has(key)) found.set(key, difference)
  }
  compare({ a: a as Json, b: b as Json, path: '' }, note)
  return [...found.values()]
}

/** Two values to be compared, with their path. */
interface Pair {
  readonly a: Json
  readonly b: Json
  readonly path: string
}

type Note = (difference: Difference) => void

function compare({ a, b, path }: Pair, note: Note): void {
  if (Array.isArray(a) && Array.isArray(b)) {
    compareArrays(a as readonly Json[], b as readonly Json[], path, note)
    return
  }
  const types = [typeOf(a), typeOf(b)]
  const shown = [showValue(a), showValue(b)] as const
  if (types[0] !== types[1]) note({ path, kind: `type ${types.join('/')}`, shown })
  else if (isObject(a) && isObject(b)) compareObjects(a, b, path, note)
  else if (a !== b) note({ path, kind: 'value', shown })
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function compareObjects(
  a: Readonly<Record<string, Json>>,
  b: Readonly<Record<string, Json>>,
  path: string,
  note: Note,
): void {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const below = path === '' ? key : `${path}.${key}`
    const [left, right] = [a[key], b[key]]
    if (left !== undefined && right !== undefined) compare({ a: left, b: right, path: below }, note)
    else
      note({
        path: below,
        kind: left === undefined ? 'only in B' : 'only in A',
        shown: [showValue(left), showValue(right)],
      })
  }
}

/** Compares arrays. Elements with an identity are matched by identity, others by index. */
function compareArrays(a: readonly Json[], b: readonly Json[], path: string, note: Note): void {
  const below = `${path}[]`
  const key = identities.find((name) => [...a, ...b].every((each) => isObject(each) && name in each))
  if (key === undefined) {
    if (a.length !== b.length) note({ path, kind: 'length', shown: [showValue(a), showValue(b)] })
    for (const [index, value] of a.slice(0, b.length).entries())
      compare({ a: value, b: b[index]!, path: below }, note)
    return
  }
  const [left, right] = [namesOf(a, key), namesOf(b, key)]
  const shown = [showValue(left), showValue(right)] as const
  if (JSON.stringify(left) !== JSON.stringify(right)) {
    const isSameSet = JSON.stringify(left.toSorted()) === JSON.stringify(right.toSorted())
    note({ path, kind: isSameSet ? 'order' : 'records', shown })
  }
  const byName = new Map(right.map((name, index) => [name, b[index]!]))
  for (const [index, name] of left.entries()) {
    const other = byName.get(name)
    if (other !== undefined) compare({ a: a[index]!, b: other, path: below }, note)
  }
}

function namesOf(records: readonly Json[], key: string): string[] {
  return records.map((record) => JSON.stringify((record as Readonly<Record<string, Json>>)[key]))
}
