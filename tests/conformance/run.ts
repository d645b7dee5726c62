import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry, Verdict } from './compare.ts'
import { judge, sendEntry } from './compare.ts'
import { readRuleBook } from './rules.ts'

/** An entry that did not come out right. */
export interface Failure {
  readonly entry: Entry
  readonly verdict: Verdict
}

/** How a corpus came out. */
export interface Outcome {
  /** Entries by result. */
  readonly tally: Readonly<Partial<Record<Verdict['result'], number>>>
  readonly failures: readonly Failure[]
}

/**
 * Sends every entry of `<folder>/<name>.ndjson` to a server, one after the other, and judges the answers by
 * `<folder>/rules.json`.
 */
export async function runCorpus(folder: string, name: string, baseUrl: string): Promise<Outcome> {
  const book = readRuleBook(readFileSync(join(folder, 'rules.json'), 'utf8'))
  const lines = readFileSync(join(folder, `${name}.ndjson`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const tally: Partial<Record<Verdict['result'], number>> = {}
  const failures: Failure[] = []
  for (const line of lines) {
    const entry = JSON.parse(line) as Entry
    const verdict = judge(entry, await sendEntry(baseUrl, entry), book)
    tally[verdict.result] = (tally[verdict.result] ?? 0) + 1
    if (verdict.result === 'wrong' || verdict.result === 'copied') failures.push({ entry, verdict })
  }
  return { tally, failures }
}
