/** Maximum number of warnings in a response. */
const MAX_WARNINGS = 5
/** Maximum characters of a warning. */
const MAX_LENGTH = 200

/**
 * Builds the `Warning` header (RFC 7234, code 299) from sentences; no header without sentences. Characters that a
 * header cannot contain become `?`, long sentences are cut, and only the first MAX_WARNINGS are sent.
 */
export function warningHeader(sentences: readonly string[]): Readonly<Record<string, string>> {
  if (sentences.length === 0) return {}
  const values = sentences.slice(0, MAX_WARNINGS).map((sentence) => `299 - "${quotable(sentence)}"`)
  return { Warning: values.join(', ') }
}

function quotable(sentence: string): string {
  return sentence
    .slice(0, MAX_LENGTH)
    .replaceAll(/[^ -~]/g, '?')
    .replaceAll(/["\\]/g, '\\$&')
}
