/** Replacement of a secret. */
export const REDACTED_TEXT = '[redacted]'

const SECRET_KEY =
  /^(.*(password|passwd)|(.*[_-])?(pass|secret|token|authorization|cookie|api[_-]?key|private[_-]?key|jwt))$/
// Matches the user and the password of a URL. A match ends at a quote, so that a JSON line stays valid JSON after the
// replacement. The length limits keep the matching time linear.
const URL_LOGIN =
  /\b([a-z][a-z0-9+.-]{0,30}:\/\/)(?:([^\s:/?#@"]{0,1024}):[^\s/?#@"]{0,1024}|[^\s:/?#@"]{1,1024})@/gi
/**
 * Matches the path and the query of a URL, because providers of nodes and of account lists put the API key of a
 * customer there.
 */
const URL_REST = /\b((?:https?|wss?):\/\/[^\s/?#"\\]{1,1024})(\/[^\s?#"\\]{0,2048})?(\?[^\s#"\\]{0,4096})?/gi
/**
 * Matches a path segment of a URL that may be an API key: a segment with a digit, with a capital letter after a
 * small one, or of at least 24 characters.
 */
const KEY_IN_PATH = /(?<=\/)(?=[^/]*\d|[^/]*[a-z][^/]*[A-Z]|[^/]{24})[\w.~%+=-]{8,}(?=\/|$)/g
const MAX_DEPTH = 12
const MAX_ENTRIES = 1000

/**
 * Whether an object key or environment variable names a secret: `password`, `api_key`, `apiKey`, `admin_secret`,
 * `JWT_SECRET`, `Authorization`, but not `token_contract`.
 */
export function isSecretKey(key: string): boolean {
  const snake = key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  return SECRET_KEY.test(snake)
}

/**
 * Replaces possible secrets in URLs: the password or token before the host; in HTTP and websocket addresses
 * also the query, and the path segments that may be an API key.
 */
export function redactUrls(text: string): string {
  if (!text.includes('://')) return text
  return text
    .replaceAll(URL_LOGIN, (_all, scheme: string, user: string | undefined) =>
      user === undefined ? `${scheme}${REDACTED_TEXT}@` : `${scheme}${user}:${REDACTED_TEXT}@`,
    )
    .replaceAll(
      URL_REST,
      (_all, origin: string, path = '', query = '') =>
        `${origin}${String(path).replaceAll(KEY_IN_PATH, REDACTED_TEXT)}${query === '' ? '' : `?${REDACTED_TEXT}`}`,
    )
}

/**
 * Copies a value with `[redacted]` for values under secret keys and for secrets in URLs. Errors become plain objects
 * (`type`, `message`, `stack`, own fields, `cause`), bigints decimal text; dates, buffers and other class instances
 * are passed unchanged. An object below depth 12 becomes `[deep]`, a circular one `[circular]`; objects and arrays are
 * cut after 1,000 entries.
 */
export function redactSecrets(value: unknown): unknown {
  return redactAt(value, 0, new Set())
}

function redactAt(value: unknown, depth: number, above: Set<object>): unknown {
  if (typeof value === 'string') return redactUrls(value)
  // JSON has no bigint and no cycles, but a log line must never fail.
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (above.has(value)) return '[circular]'
  if (depth >= MAX_DEPTH) return '[deep]'
  above.add(value)
  const copy = copyOf(value, depth, above)
  above.delete(value)
  return copy
}

function copyOf(value: object, depth: number, above: Set<object>): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((each) => redactAt(each, depth + 1, above))
  if (value instanceof Error) return redactEntries(errorFields(value), depth, above)
  return isPlain(value) ? redactEntries(Object.entries(value), depth, above) : value
}

function redactEntries(entries: [string, unknown][], depth: number, above: Set<object>): object {
  return Object.fromEntries(
    entries
      .slice(0, MAX_ENTRIES)
      .map(([key, each]) => [key, isSecret(key, each) ? REDACTED_TEXT : redactAt(each, depth + 1, above)]),
  )
}

function errorFields(error: Error): [string, unknown][] {
  const own = Object.entries(error).filter(([key]) => key !== 'name')
  const cause: [string, unknown][] = error.cause === undefined ? [] : [['cause', error.cause]]
  return [['type', error.name], ['message', error.message], ['stack', error.stack], ...own, ...cause]
}

function isSecret(key: string, value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && isSecretKey(key)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
