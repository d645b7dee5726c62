import { hash } from 'node:crypto'
import type { Context } from 'koa'

/**
 * A weak entity tag of a text: answers with the same tag mean the same, whatever their compression and the moment
 * that they carry.
 */
export function weakTag(text: string): string {
  return `W/"${hash('sha1', text, 'base64')}"`
}

/**
 * Sets `ETag`, and answers 304 when the client has that answer already.
 * @returns whether it has.
 */
export function answerIfKnown(context: Context, tag: string): boolean {
  context.set('ETag', tag)
  const { method } = context
  const known = method === 'GET' || method === 'HEAD' ? context.get('If-None-Match') : ''
  if (known === '' || !isListed(known, tag)) return false
  context.status = 304
  return true
}

/** Longest header that is looked into. */
const MAX_HEADER_LENGTH = 8_192

function isListed(header: string, tag: string): boolean {
  if (header.length > MAX_HEADER_LENGTH) return false
  // Whether a validator is weak does not matter here (RFC 9110, 13.1.2); a tag holds no comma.
  const opaque = tag.replace(/^W\//, '')
  return header.split(',').some((each) => {
    const candidate = each.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === opaque
  })
}
