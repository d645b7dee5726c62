/**
 * JSON text in pieces, in their order: texts, and UTF-8 bytes that several answers share. A list of a hundred records
 * consists mostly of such bytes; a text of all of them would be written, and encoded, for every request.
 */
export type Json = string | Uint8Array | LateJson | readonly Json[]

/** A large piece of known size whose text stands in other pieces too: it is put together when the answer is written. */
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

/** All pieces as UTF-8. @param maxBytes of `jsonSize`, where it is known. */
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

/** Adds pieces to chunks; texts in a row become one. @returns the text that no chunk holds yet, after `text`. */
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
