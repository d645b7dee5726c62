import { PronghornError } from './pronghorn-error.ts'

const MAX_CAUSES = 8
const MAX_LENGTH = 4000

/**
 * One line of text for anything that was thrown: code, message, then each cause after `<-` whose text is not in the
 * message already. Never throws, ends on circular causes, and is at most 4,000 characters long.
 */
export function describeError(error: unknown): string {
  const parts: string[] = []
  const seen = new Set<unknown>()
  let current = error
  while (current !== undefined && !seen.has(current) && parts.length < MAX_CAUSES) {
    seen.add(current)
    const text = describeOne(current)
    if (!parts.some((part) => part.includes(text))) parts.push(text)
    current = current instanceof Error ? current.cause : undefined
  }
  return (parts.length === 0 ? 'undefined' : parts.join(' <- ')).slice(0, MAX_LENGTH)
}

function describeOne(error: unknown): string {
  if (error instanceof PronghornError) return oneLine(`${error.code}: ${error.message}`)
  if (error instanceof AggregateError && error.errors.length > 0) {
    // Node reports a refused connection to a name with two addresses as this error, with an empty message.
    const inner = error.errors.slice(0, MAX_CAUSES).map((each) => oneLine(messageOf(each)))
    return oneLine([error.message, inner.join('; ')].filter((text) => text !== '').join(': '))
  }
  return oneLine(messageOf(error))
}

function messageOf(error: unknown): string {
  if (error instanceof Error) {
    const code: unknown = 'code' in error ? error.code : undefined
    const message = error.message === '' ? error.name : error.message
    return typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message
  }
  if (typeof error === 'string') return error
  try {
    // A value without a JSON form (undefined, a function) yields undefined at run time.
    const json = JSON.stringify(error) as string | undefined
    return json ?? String(error)
  } catch {
    return Object.prototype.toString.call(error)
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
