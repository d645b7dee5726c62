/**
 * JSON text in pieces, in their order: texts, and UTF-8 bytes that are kept for several answers. A list of a hundred
 * records consists mostly of such bytes; a text of all of them would be made, and copied, for every request.
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
  const chunks: Uint8Array[] = []
  const rest = collect(json, '', chunks)
  if (rest !== '') chunks.push(Buffer.from(rest, 'utf8'))
  return Buffer.concat(chunks)
}

/** All pieces as one text, for whatever is small. */
export function jsonString(json: Json): string {
  return typeof json === 'string' ? json : jsonBytes(json).toString('utf8')
}

/** Adds pieces to chunks; texts in a row become one. @returns the text that no chunk holds yet, after `text`. */
function collect(json: Json, text: string, chunks: Uint8Array[]): string {
  if (typeof json === 'string') return text + json
  if (json instanceof Uint8Array) {
    if (text !== '') chunks.push(Buffer.from(text, 'utf8'))
    chunks.push(json)
    return ''
  }
  return json.reduce<string>((pending, piece) => collect(piece, pending, chunks), text)
}
