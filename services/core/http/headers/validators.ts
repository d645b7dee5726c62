import { createHash, hash } from 'node:crypto'

const HASH = 'sha1'

/**
 * Weak entity tag of a body: bodies with the same tag are equivalent, whatever their compression and the query time
 * that they contain.
 */
export function weakTag(bytes: Uint8Array): string {
  return tagOf(hash(HASH, bytes, 'base64'))
}

/** Creates a weak entity tag from a body in pieces: call `update` with each piece, then `tag`. */
export function createWeakTag(): {
  readonly update: (bytes: Uint8Array) => void
  readonly tag: () => string
} {
  const all = createHash(HASH)
  return { update: (bytes) => void all.update(bytes), tag: () => tagOf(all.digest('base64')) }
}

function tagOf(digest: string): string {
  return `W/"${digest}"`
}

/** Maximum length of an `If-None-Match` header to parse. */
const MAX_HEADER_LENGTH = 8_192

/** Whether an `If-None-Match` header names an entity tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined || header === '' || header.length > MAX_HEADER_LENGTH) return false
  if (header === tag) return true
  // `If-None-Match` compares weakly (RFC 9110, 13.1.2), so ignore the `W/`. Splitting at commas is safe: our tags
  // contain none.
  const opaque = tag.replace(/^W\//, '')
  return header.split(',').some((each) => {
    const candidate = each.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === opaque
  })
}
