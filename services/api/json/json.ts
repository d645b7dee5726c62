/**
 * JSON in pieces, in order: texts, and UTF-8 bytes that several answers share. A list of a hundred records consists
 * mostly of shared bytes. A single text of the whole list would have to be built and encoded for every request.
 */
export type Json = string | Uint8Array | LateJson | readonly Json[]

/**
 * Large JSON that repeats content of other pieces. `write` assembles the text when the answer is written, so that the
 * content is not in memory twice.
 */
export class LateJson {
  /** Upper bound of the size of the JSON as UTF-8, bytes. */
  readonly maxBytes: number
  readonly write: () => Json

  constructor(maxBytes: number, write: () => Json) {
    this.maxBytes = maxBytes
    this.write = write
  }
}

export function jsonArray(values: readonly Json[]): Json {
  const pieces: Json[] = ['[']
  values.forEach((value, index) => {
    if (index > 0) pieces.push(',')
    pieces.push(value)
  })
  pieces.push(']')
  return pieces
}

/** Upper bounds of the sizes of the values in an array built by `jsonArray`, bytes; undefined for other JSON. */
export function jsonItemSizes(json: Json): number[] | undefined {
  if (!Array.isArray(json) || json[0] !== '[') return undefined
  return (json as readonly Json[])
    .filter((_piece, index) => index % 2 === 1 && index < json.length - 1)
    .map(jsonSize)
}

/**
 * Encodes all pieces as UTF-8 in one buffer.
 * @param maxBytes the result of `jsonSize`, if already computed.
 */
export function jsonBytes(json: Json, maxBytes = jsonSize(json)): Buffer {
  if (typeof json === 'string') return Buffer.from(json, 'utf8')
  const chunks: (string | Uint8Array)[] = []
  const rest = collect(json, '', chunks)
  if (rest !== '') chunks.push(rest)
  const all = Buffer.allocUnsafe(maxBytes)
  let at = 0
  for (const chunk of chunks) {
    if (typeof chunk === 'string') at += all.write(chunk, at)
    else {
      all.set(chunk, at)
      at += chunk.length
    }
  }
  return all.subarray(0, at)
}

/** Joins all pieces to one text. Intended for small JSON. */
export function jsonString(json: Json): string {
  return typeof json === 'string' ? json : jsonBytes(json).toString('utf8')
}

/** Upper bound of the size of all pieces as UTF-8, bytes. The pieces are not assembled. */
export function jsonSize(json: Json): number {
  if (typeof json === 'string') return Buffer.byteLength(json)
  if (json instanceof Uint8Array) return json.length
  if (json instanceof LateJson) return json.maxBytes
  let size = 0
  for (const piece of json) size += jsonSize(piece)
  return size
}

/**
 * Appends the texts and bytes of `json` to `chunks`, and joins consecutive texts. `text` precedes `json` and has not
 * been appended yet.
 *
 * @returns the last text, which the caller has to append.
 */
function collect(json: Json, text: string, chunks: (string | Uint8Array)[]): string {
  if (typeof json === 'string') return text + json
  if (json instanceof LateJson) return collect(json.write(), text, chunks)
  if (json instanceof Uint8Array) {
    if (text !== '') chunks.push(text)
    chunks.push(json)
    return ''
  }
  let pending = text
  for (const piece of json) pending = collect(piece, pending, chunks)
  return pending
}

/** Minimum size of a piece that `jsonPieces` yields, bytes. */
const PIECE_BYTES = 65_536

/** Yields the JSON as UTF-8 in pieces of at least PIECE_BYTES, so that one piece at a time is in memory. */
export function* jsonPieces(json: Json): Generator<Uint8Array> {
  let chunks: Uint8Array[] = []
  let [text, bytes] = ['', 0]
  for (const leaf of leavesOf(json)) {
    if (typeof leaf === 'string') text += leaf
    else {
      if (text !== '') chunks.push(Buffer.from(text))
      text = ''
      chunks.push(leaf)
    }
    bytes += leaf.length
    if (bytes < PIECE_BYTES) continue
    if (text !== '') chunks.push(Buffer.from(text))
    yield chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    chunks = []
    ;[text, bytes] = ['', 0]
  }
  if (text !== '') chunks.push(Buffer.from(text))
  if (chunks.length > 0) yield Buffer.concat(chunks)
}

/** Yields texts and bytes in order. Long texts are yielded in parts. */
function* leavesOf(json: Json): Generator<string | Uint8Array> {
  const rest: Json[] = [json]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next instanceof Uint8Array) yield next
    else if (next instanceof LateJson) rest.push(next.write())
    else if (typeof next !== 'string') for (let at = next.length - 1; at >= 0; at--) rest.push(next[at]!)
    else if (next.length <= PIECE_BYTES) yield next
    else yield* partsOf(next)
  }
}

function* partsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    // Do not split a surrogate pair.
    const isSplit = (text.charCodeAt(at + PIECE_BYTES - 1) & 0xfc00) === 0xd800
    const end = at + PIECE_BYTES + (isSplit ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}

/**
 * The functions below work on attribute maps in the format in which PostgreSQL prints `jsonb`: keys ascend by length,
 * then by bytes; the separators are `, ` and `: `.
 */

/** One member of an attribute map. The key, with its quotes, and the value are JSON text. */
export interface DataMember {
  readonly key: string
  readonly value: string
}

/**
 * Splits the text of an attribute map into members, in the order of the text.
 * @param text text of a `jsonb` object; empty if there is no map.
 * @param isLast returns true for the key after which splitting stops.
 */
export function splitDataMap(text: string, isLast?: (key: string) => boolean): DataMember[] {
  const members: DataMember[] = []
  if (text.length <= 2) return members
  let at = 1
  while (at < text.length) {
    const keyEnd = endOfString(text, at)
    const valueStart = keyEnd + 2
    const valueEnd = endOfValue(text, valueStart)
    const key = text.slice(at, keyEnd)
    members.push({ key, value: text.slice(valueStart, valueEnd) })
    if (isLast?.(key) === true) return members
    at = valueEnd + 2
  }
  return members
}

const NAME = '"name"'
/**
 * Maximum length of the JSON text of a key of four bytes, such as `name`: two quotes, and an escape of six characters
 * for each byte.
 */
const MAX_ESCAPED_NAME = 2 + 4 * 6

/**
 * Finds the attribute `name` in the text of an attribute map, like {@link nameOf}. Keys ascend by length, so the search
 * stops at the first key that is longer than MAX_ESCAPED_NAME.
 */
export function findName(text: string): string | undefined {
  return nameOf(splitDataMap(text, (key) => key === NAME || key.length > MAX_ESCAPED_NAME))
}

/** Merges two attribute maps. A member of the second map replaces the member with the same key of the first map. */
export function overlayDataMap(
  below: readonly DataMember[],
  above: readonly DataMember[],
): readonly DataMember[] {
  if (above.length === 0) return below
  if (below.length === 0) return above
  const merged: DataMember[] = []
  let [one, other] = [0, 0]
  while (one < below.length && other < above.length) {
    const order = compareKeys(below[one]!.key, above[other]!.key)
    if (order < 0) merged.push(below[one++]!)
    else {
      merged.push(above[other++]!)
      if (order === 0) one++
    }
  }
  while (one < below.length) merged.push(below[one++]!)
  while (other < above.length) merged.push(above[other++]!)
  return merged
}

/** Formats the members of a JSON object in the way in which PostgreSQL prints `jsonb`. */
export function joinDataMap(members: readonly DataMember[]): string {
  let text = '{'
  members.forEach(({ key, value }, index) => {
    text += index === 0 ? `${key}: ${value}` : `, ${key}: ${value}`
  })
  return `${text}}`
}

/** The JSON members `data` and `name` of a record; `name` is absent if the attribute map has no name. */
export function dataMembers(members: readonly DataMember[]): string {
  const name = nameOf(members)
  const data = `"data":${joinDataMap(members)}`
  return name === undefined ? data : `${data},"name":${name}`
}

/** Returns the attribute `name` as JSON text or null. A number or a list becomes a JSON string of its text. */
export function nameOf(members: readonly DataMember[]): string | undefined {
  const value = members.find(({ key }) => key === NAME)?.value
  if (value === undefined || value === 'null' || value.charCodeAt(0) === QUOTE) return value
  return JSON.stringify(value)
}

function compareKeys(one: string, other: string): number {
  if (one === other) return 0
  if (isPlain(one) && isPlain(other)) {
    return one.length === other.length ? (one < other ? -1 : 1) : one.length - other.length
  }
  const [first, second] = [keyBytes(one), keyBytes(other)]
  return first.length === second.length ? first.compare(second) : first.length - second.length
}

/**
 * Whether the JSON text of a key is ASCII without escapes. Each character between the quotes is then one byte of the
 * key.
 */
function isPlain(key: string): boolean {
  for (let at = 1; at < key.length - 1; at++) {
    const code = key.charCodeAt(at)
    if (code > 0x7f || code === BACKSLASH) return false
  }
  return true
}

function keyBytes(key: string): Buffer {
  return Buffer.from(JSON.parse(key) as string, 'utf8')
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c

function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from)
  if (first === QUOTE) return endOfString(text, from)
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at) - 1
    else if (code === COMMA && depth === 0) return at
    else if (code === 0x5b || code === 0x7b) depth++
    // The closing bracket without an opening one ends the map itself.
    else if ((code === 0x5d || code === 0x7d) && depth-- === 0) return at
  }
  return text.length
}

/** Position after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1)
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at + 1
}

function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text.charCodeAt(start - 1) === BACKSLASH) start--
  return (at - start) % 2 === 1
}
