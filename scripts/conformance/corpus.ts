import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { packageRoot } from '../../services/core/paths/index.ts'
import { readRuleBook } from './comparison/index.ts'
import type { Entry, RuleBook } from './comparison/index.ts'

/** A contract family with a file of recorded requests; requests of server-wide routes are in the file of `assets`. */
export type CorpusName = 'assets' | 'market'

export const corpusNames: readonly CorpusName[] = ['assets', 'market']

function readFixture(name: string): string {
  return gunzipSync(readFileSync(join(packageRoot, 'tests/fixtures/conformance', `${name}.gz`))).toString()
}

/** Reads the recorded requests and answers of a family. */
export function readCorpus(name: CorpusName): Entry[] {
  return readFixture(`${name}.ndjson`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)
}

/** Reads the rules by which answers are compared with the recorded answers. */
export function readRules(): RuleBook {
  return readRuleBook(readFixture('rules.json'))
}

/** A known difference from the replaced system. */
interface Difference {
  readonly why: string
  /** Ids of the recorded requests whose answers have this difference. */
  readonly entries?: readonly string[]
}

/** Reads the intended differences; no other difference from the recorded answers is accepted. */
export function readDifferences(): readonly Difference[] {
  const text = readFileSync(join(packageRoot, 'scripts/conformance/differences.json'), 'utf8')
  return JSON.parse(text) as Difference[]
}
