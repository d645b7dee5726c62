/** Location of a JSON syntax error, counted from 1, and the expected token. */
export interface JsonFault {
  readonly line: number
  readonly column: number
  readonly expected: string
}

interface Scan {
  readonly text: string
  at: number
}

class Unexpected extends Error {
  readonly at: number

  constructor(at: number, expected: string) {
    super(expected)
    this.at = at
  }
}

const MAX_DEPTH = 100

/**
 * Finds the first error of a JSON text: a syntax error, a duplicate key in one object, or nesting deeper than 100; null
 * for a text without errors. `JSON.parse` does not suffice: its errors lack the position in some cases and quote the
 * text, which may contain a password; and it silently uses the last of duplicate keys.
 */
export function findJsonFault(text: string): JsonFault | null {
  const scan: Scan = { text, at: 0 }
  try {
    skipValue(scan, 0)
    skipSpace(scan)
    if (scan.at < text.length) throw new Unexpected(scan.at, 'the end of the file')
    return null
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error
    const before = text.slice(0, error.at)
    const lineStart = before.lastIndexOf('\n') + 1
    return {
      line: before.split('\n').length,
      column: error.at - lineStart + 1,
      expected: error.message,
    }
  }
}

function skipValue(scan: Scan, depth: number): void {
  skipSpace(scan)
  if (depth > MAX_DEPTH) throw new Unexpected(scan.at, `at most ${MAX_DEPTH} levels of nesting`)
  const first = scan.text[scan.at]
  if (first === '{') skipObject(scan, depth)
  else if (first === '[') skipArray(scan, depth)
  else if (first === '"') skipText(scan)
  else skipWord(scan)
}

function skipWord(scan: Scan): void {
  if (skipPattern(scan, /(?:true|false|null)(?![A-Za-z0-9_])/y)) return
  if (skipPattern(scan, /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![A-Za-z0-9_.])/y)) return
  throw new Unexpected(scan.at, 'a value (JSON has no comments and no comma after the last entry)')
}

function skipObject(scan: Scan, depth: number): void {
  const keys = new Set<string>()
  scan.at++
  if (skipSign(scan, '}')) return
  do {
    skipSpace(scan)
    const at = scan.at
    if (scan.text[at] !== '"') throw new Unexpected(at, 'a key in double quotes')
    const key = skipText(scan)
    if (keys.has(key)) throw new Unexpected(at, 'each key only once in an object')
    keys.add(key)
    if (!skipSign(scan, ':')) throw new Unexpected(scan.at, 'a colon after the key')
    skipValue(scan, depth + 1)
  } while (skipSign(scan, ','))
  if (!skipSign(scan, '}')) throw new Unexpected(scan.at, 'a comma or a closing brace')
}

function skipArray(scan: Scan, depth: number): void {
  scan.at++
  if (skipSign(scan, ']')) return
  do skipValue(scan, depth + 1)
  while (skipSign(scan, ','))
  if (!skipSign(scan, ']')) throw new Unexpected(scan.at, 'a comma or a closing bracket')
}

/** Skips a string and returns its raw characters. */
function skipText(scan: Scan): string {
  const start = scan.at
  scan.at++
  for (;;) {
    // eslint-disable-next-line no-control-regex -- JSON forbids control characters in a string
    skipPattern(scan, /[^"\\\u0000-\u001f]+/y)
    const next = scan.text[scan.at]
    if (next === '"') break
    if (!skipPattern(scan, /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y)) {
      throw new Unexpected(
        scan.at,
        next === '\\' ? 'a valid escape' : 'the closing quote of a text that began on this line',
      )
    }
  }
  scan.at++
  return scan.text.slice(start + 1, scan.at - 1)
}

function skipSign(scan: Scan, sign: string): boolean {
  skipSpace(scan)
  if (scan.text[scan.at] !== sign) return false
  scan.at++
  return true
}

function skipSpace(scan: Scan): void {
  skipPattern(scan, /[ \t\r\n]+/y)
}

function skipPattern(scan: Scan, pattern: RegExp): boolean {
  pattern.lastIndex = scan.at
  if (!pattern.test(scan.text)) return false
  scan.at = pattern.lastIndex
  return true
}
