/**
 * Compares the number of pages that each kind of request touches on a small generated database with the stored number
 * in `scripts/bench/pages-reference.json`.
 * Usage: node dist/scripts/bench/pages-check.js [--write]
 *
 * Exits with 1 in three cases:
 * - The mean of a kind is more than 1.5 times the stored mean, and more than ten pages above the stored mean, in three
 *   runs in a row. Each run has fresh statistics, which may change plans.
 * - A request fails.
 * - The stored means and the counted requests do not have the same kinds of request.
 *
 * `--write` stores the means instead.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageRoot } from '../../services/core/paths/index.ts'
import { countPages } from './pages/measure.ts'
import type { CountedKinds } from './pages/measure.ts'
import { pagesOf } from './pages/result.ts'
import { PrintedTable } from './report.ts'

const { values: options } = parseArgs({ options: { write: { type: 'boolean', default: false } } })

const STORED = join(packageRoot, 'scripts/bench/pages-reference.json')
const small = { seed: 'pages', factor: 0.05, samples: 8 } as const
/** A kind of request has grown if its mean is above this multiple of the stored mean, by more than `MORE` pages. */
const MOST_SHARE = 1.5
const MORE = 10
const ROUNDS = 3

type Means = Readonly<Record<string, number>>

/** @throws Error for a request that failed: an error answer touches few pages, which would hide growth of the mean. */
const meansOf = (counted: CountedKinds): Means =>
  Object.fromEntries(
    [...counted].map(([name, requests]) => {
      const { mean, failures } = pagesOf(name, requests)
      if (failures > 0) throw new Error(`${failures} of ${requests.length} requests failed: ${name}`)
      return [name, mean]
    }),
  )

if (options.write) {
  await writeFile(STORED, `${JSON.stringify(meansOf(await countPages(small)), null, 2)}\n`)
} else {
  const stored = JSON.parse(await readFile(STORED, 'utf8')) as Means
  const least: Record<string, number> = {}
  let grown: readonly string[] = []
  let rounds = 0
  const hasGrown = (counted: CountedKinds): boolean => {
    for (const [name, mean] of Object.entries(meansOf(counted)))
      least[name] = Math.min(least[name] ?? Infinity, mean)
    grown = Object.entries(least)
      .filter(([name, mean]) => mean > Math.max((stored[name] ?? 0) * MOST_SHARE, (stored[name] ?? 0) + MORE))
      .map(([name]) => name)
    return grown.length > 0 && ++rounds < ROUNDS
  }
  await countPages(small, hasGrown)
  const table = new PrintedTable(['Kind of request', 'Pages', 'Stored', ''])
  for (const [name, mean] of Object.entries(least))
    table.row([name, mean, stored[name] ?? '', grown.includes(name) ? 'GROWN' : ''])
  const unequal = Object.keys({ ...stored, ...least }).filter((name) => !(name in stored && name in least))
  if (unequal.length > 0) {
    console.error(`kinds of request that are either not stored or not counted:  ${unequal.join('; ')}`)
    process.exitCode = 1
  }
  if (grown.length > 0) {
    console.error(
      `kinds of request that touch far more pages than their stored mean:  ${grown.join('; ')}; \`npm run bench:pages -- --write\` stores the new means`,
    )
    process.exitCode = 1
  }
}
