import { readFileSync, statSync } from 'node:fs'
import { findJsonFault } from './json-scan.ts'
import type { ConfigProblem } from './problems.ts'

/** Maximum size of a configuration file in bytes: many times the size of an IP whitelist of 10,000 ranges. */
const MAX_FILE_BYTES = 4 * 1024 * 1024

/** Result of reading a configuration file. */
export type FileContent =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problem: ConfigProblem }

/** Reads a JSON file. Reports every error as a problem, under the file name `name`, and never throws. */
export function readJsonFile(file: string, name: string): FileContent {
  const refuse = (found: string, allowed: string): FileContent => ({
    kind: 'problem',
    problem: { file: name, path: '', found, allowed },
  })
  try {
    const facts = statSync(file)
    // Refuse a pipe or device: reading it could block the start of the process without limit.
    if (!facts.isFile()) return refuse(`no regular file at ${file}`, 'a JSON file')
    if (facts.size > MAX_FILE_BYTES) return refuse(`${facts.size} bytes`, `at most ${MAX_FILE_BYTES} bytes`)
    return parseJson(readFileSync(file), refuse)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error'
    if (code === 'ENOENT') return { kind: 'absent' }
    return refuse(`${file}, which cannot be read (${code})`, 'a file that the user of the process may read')
  }
}

function parseJson(bytes: Uint8Array, refuse: (found: string, allowed: string) => FileContent): FileContent {
  let text: string
  try {
    // `TextDecoder` also drops the byte order mark that some editors write.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return refuse('bytes that are not UTF-8', 'a JSON file in UTF-8')
  }
  const fault = findJsonFault(text)
  if (fault)
    return refuse(`malformed JSON at line ${fault.line}, column ${fault.column}`, `${fault.expected} there`)
  return { kind: 'value', value: JSON.parse(text) as unknown }
}
