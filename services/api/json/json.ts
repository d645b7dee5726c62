import { hash } from 'node:crypto'

/**
 * JSON text in pieces, in their order: texts, and UTF-8 bytes that are kept for several answers. A list of a hundred
 * records consists mostly of such bytes; a text of all of them would be made, and copied, for every request.
 */
export type Json = string | Uint8Array | KeptJson | readonly Json[]

/** JSON that is kept for several answers, as bytes, with a short text that stands for it where answers are compared. */
export class KeptJson {
  readonly bytes: Uint8Array
  #digest: string | undefined

  constructor(json: Json) {
    this.bytes = joined(json, bytesOf, true)
  }

  /** Differs where the bytes do. */
  get digest(): string {
    return (this.#digest ??= hash('sha1', this.bytes, 'base64'))
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

/** All pieces as UTF-8. */
export function jsonBytes(json: Json): Buffer {
  return joined(json, bytesOf, false)
}

/**
 * Bytes that are the same where the JSON is, made of the same kept pieces: these count with their digests, so a long
 * list is compared without reading it all.
 */
export function jsonIdentity(json: Json): Buffer {
  return joined(json, ({ digest }) => digest, false)
}

/** All pieces as one text, for whatever is small. */
export function jsonString(json: Json): string {
  return typeof json === 'string' ? json : jsonBytes(json).toString('utf8')
}

type Shown = (kept: KeptJson) => string | Uint8Array

const bytesOf: Shown = ({ bytes }) => bytes

function joined(json: Json, shown: Shown, isKept: boolean): Buffer {
  const chunks: Uint8Array[] = []
  const rest = collect(json, shown, '', chunks)
  if (rest !== '') chunks.push(Buffer.from(rest, 'utf8'))
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  // What is kept has memory of its own: a piece of Node's pool would hold on to its neighbours.
  const all = isKept ? Buffer.allocUnsafeSlow(size) : Buffer.allocUnsafe(size)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

/** Adds pieces to chunks; texts in a row become one. @returns the text that no chunk holds yet, after `text`. */
function collect(json: Json, shown: Shown, text: string, chunks: Uint8Array[]): string {
  if (typeof json === 'string') return text + json
  if (json instanceof KeptJson) return collect(shown(json), shown, text, chunks)
  if (json instanceof Uint8Array) {
    if (text !== '') chunks.push(Buffer.from(text, 'utf8'))
    chunks.push(json)
    return ''
  }
  let pending = text
  for (const piece of json) pending = collect(piece, shown, pending, chunks)
  return pending
}
