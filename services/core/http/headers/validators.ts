import { createHash, hash } from 'node:crypto'

const HASH = 'sha1'

/**
 * A weak entity tag of bytes: answers with the same tag mean the same, whatever their compression and the time
 * that they carry.
 */
export function weakTag(bytes: Uint8Array): string {
  return tagOf(hash(HASH, bytes, 'base64'))
}

/** Creates the same of bytes in pieces: `update` is called with each, `tag` returns it. */
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

/** Longest header that is looked into. */
const MAX_HEADER_LENGTH = 8_192

/** Whether an `If-None-Match` header names an entity tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined || header === '' || header.length > MAX_HEADER_LENGTH) return false
  if (header === tag) return true
  // Whether a validator is weak does not matter here (RFC 9110, 13.1.2); a tag holds no comma.
  const opaque = tag.replace(/^W\//, '')
  return header.split(',').some((each) => {
    const candidate = each.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === opaque
  })
}
