import { PronghornError } from './pronghorn-error.ts'

const MAX_CAUSES = 8
const MAX_LENGTH = 4000

/**
 * Formats any thrown value as one line: code, message, then the causes, each after `<-`. Leaves out a cause whose text
 * is already in the line. Never throws, stops at circular causes, and returns at most 4,000 characters.
 */
export function describeError(error: unknown): string {
  const parts: string[] = []
  const seen = new Set<unknown>()
  let current = error
  while (current !== undefined && !seen.has(current) && parts.length < MAX_CAUSES) {
    seen.add(current)
    const text = describeOne(current)
    if (!isWrapper(current) && !parts.some((part) => part.includes(text))) parts.push(text)
    current = current instanceof Error ? current.cause : undefined
  }
  return (parts.length === 0 ? 'undefined' : parts.join(' <- ')).slice(0, MAX_LENGTH)
}

function describeOne(error: unknown): string {
  if (error instanceof PronghornError) return oneLine(`${error.code}: ${error.message}`)
  if (error instanceof AggregateError && error.errors.length > 0) {
    // An AggregateError has an empty message if Node could not connect to any address of a host name. Join the messages
    // of the errors inside.
    const inner = error.errors.slice(0, MAX_CAUSES).map((each) => oneLine(messageOf(each)))
    return oneLine([error.message, inner.join('; ')].filter((text) => text !== '').join(': '))
  }
  return oneLine(messageOf(error))
}

/** The error `fetch failed` only wraps its cause. */
function isWrapper(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed' && error.cause !== undefined
}

/** Translates a connection error into plain words. Undefined if the text of the error is plain already. */
function inWords(error: Error, code: unknown): string | undefined {
  if (error.name === 'TimeoutError') return 'no answer in time'
  if (typeof code !== 'string') return undefined
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    const name = 'hostname' in error ? String(error.hostname) : ''
    return code === 'ENOTFOUND'
      ? `the host name ${name} is not known (${code})`
      : `the host name ${name} cannot be looked up now (${code})`
  }
  if (
    code === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    (code === 'EPROTO' && error.message.includes('wrong version'))
  )
    return `the server does not use TLS (${code}): write http:// instead of https://, or ws:// instead of wss://`
  return code.startsWith('HPE_') ? `the server does not use HTTP (${code})` : undefined
}

function messageOf(error: unknown): string {
  if (error instanceof Error) {
    const code: unknown = 'code' in error ? error.code : undefined
    const words = inWords(error, code)
    if (words !== undefined) return words
    const message = error.message === '' ? error.name : error.message
    return typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message
  }
  if (typeof error === 'string') return error
  try {
    // JSON.stringify returns undefined at run time for values without JSON form, such as functions.
    const json = JSON.stringify(error) as string | undefined
    return json ?? String(error)
  } catch {
    return Object.prototype.toString.call(error)
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
