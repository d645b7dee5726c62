/**
 * JSON text in pieces, in their order: texts, and UTF-8 bytes that several answers share. A list of a hundred records
 * consists mostly of such bytes; a text of all of them would be written, and encoded, for every request.
 */
export type Json = string | Uint8Array | LateJson | readonly Json[]

/** A large piece of known size whose text stands in other pieces too: the text is assembled when the answer is written. */
export class LateJson {
  /** Most bytes that it has as UTF-8. */
  readonly maxBytes: number
  readonly write: () => Json

  constructor(maxBytes: number, write: () => Json) {
    this.maxBytes = maxBytes
    this.write = write
  }
}

/** A JSON array of values. */
export function jsonArray(values: readonly Json[]): Json {
  const pieces: Json[] = ['[']
  values.forEach((value, index) => {
    if (index > 0) pieces.push(',')
    pieces.push(value)
  })
  pieces.push(']')
  return pieces
}

/** Most bytes of the values of an array of `jsonArray`; undefined for other JSON. */
export function jsonItemSizes(json: Json): number[] | undefined {
  if (!Array.isArray(json) || json[0] !== '[') return undefined
  return (json as readonly Json[])
    .filter((_piece, index) => index % 2 === 1 && index < json.length - 1)
    .map(jsonSize)
}

/** All pieces as UTF-8 in one buffer. @param maxBytes the result of `jsonSize`, if it is known. */
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

/** All pieces as one text, for whatever is small. */
export function jsonString(json: Json): string {
  return typeof json === 'string' ? json : jsonBytes(json).toString('utf8')
}

/** Most bytes of all pieces as UTF-8, without putting them together. */
export function jsonSize(json: Json): number {
  if (typeof json === 'string') return Buffer.byteLength(json)
  if (json instanceof Uint8Array) return json.length
  if (json instanceof LateJson) return json.maxBytes
  let size = 0
  for (const piece of json) size += jsonSize(piece)
  return size
}

/**
 * Appends the pieces of `json` to `chunks`, and joins consecutive texts, the first with `text`.
 *
 * @returns the last text, which is not in a chunk yet.
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

/** Minimum bytes of a piece. */
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

/** Texts and bytes in their order, long texts in parts. */
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
    // A character of two units stays whole.
    const isSplit = (text.charCodeAt(at + PIECE_BYTES - 1) & 0xfc00) === 0xd800
    const end = at + PIECE_BYTES + (isSplit ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}
