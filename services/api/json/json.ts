/**
 * JSON text in pieces, in their order: texts, and UTF-8 bytes that several answers share. A list of a hundred records
 * consists mostly of such bytes; a text of all of them would be written, and encoded, for every request.
 */
export type Json = string | Uint8Array | readonly Json[]

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

/** All pieces as UTF-8. */
export function jsonBytes(json: Json): Buffer {
  if (typeof json === 'string') return Buffer.from(json, 'utf8')
  const chunks: (string | Uint8Array)[] = []
  const rest = collect(json, '', chunks)
  if (rest !== '') chunks.push(rest)
  let size = 0
  for (const chunk of chunks) size += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length
  const all = Buffer.allocUnsafe(size)
  let at = 0
  for (const chunk of chunks) {
    if (typeof chunk === 'string') at += all.write(chunk, at)
    else {
      all.set(chunk, at)
      at += chunk.length
    }
  }
  return all
}

/** All pieces as one text, for whatever is small. */
export function jsonString(json: Json): string {
  return typeof json === 'string' ? json : jsonBytes(json).toString('utf8')
}

/** Bytes of all pieces as UTF-8, without putting them together. */
export function jsonSize(json: Json): number {
  if (typeof json === 'string') return Buffer.byteLength(json)
  if (json instanceof Uint8Array) return json.length
  return json.reduce<number>((sum, piece) => sum + jsonSize(piece), 0)
}

/** Adds pieces to chunks; texts in a row become one. @returns the text that no chunk holds yet, after `text`. */
function collect(json: Json, text: string, chunks: (string | Uint8Array)[]): string {
  if (typeof json === 'string') return text + json
  if (json instanceof Uint8Array) {
    if (text !== '') chunks.push(text)
    chunks.push(json)
    return ''
  }
  let pending = text
  for (const piece of json) pending = collect(piece, pending, chunks)
  return pending
}
