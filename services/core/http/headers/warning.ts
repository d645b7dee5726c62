/** Warnings of one answer. */
const MAX_WARNINGS = 5
/** Characters of one warning. */
const MAX_LENGTH = 200

/**
 * The `Warning` header (RFC 7234, code 299) that carries these sentences; no header without any. Characters that a
 * header cannot hold become `?`, long sentences are cut, and of many only the first are sent.
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
