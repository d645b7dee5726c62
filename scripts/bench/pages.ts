/**
 * Counts the distinct pages that requests touch, on generated databases of several sizes: every kind of the bench
 * `traffic` and every route of the bench `rates`, by relation and access (index, heap, TOAST). The number of pages is
 * the same on every machine, and predicts the disk reads of a database that does not fit into memory.
 * Usage: node dist/scripts/bench/pages.js [--data FOLDER] [--factor N]... [--samples N] [--only NAME] [--seed TEXT]
 * [--json FILE]
 * --factor can be repeated (default 0.1, 0.4 and 1.6). The databases stay in FOLDER/pages-FACTOR. The server is
 * PostgreSQL 18, because earlier versions cannot empty their page cache.
 *
 * Prints for each kind of request:
 * - the mean rows and the mean pages of a request on each database,
 * - the exponents with which mean rows and mean pages grow with the size of the database,
 * - on the largest database: the share of requests above the budget, and the relations with the most pages.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countPages } from './pages/measure.ts'
import { cellsOf, headOf, pagesOf, summaryOf } from './pages/result.ts'
import type { SizePages } from './pages/result.ts'
import { PrintedTable, storeFigures } from './report.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    factor: { type: 'string', multiple: true, default: ['0.1', '0.4', '1.6'] },
    samples: { type: 'string', default: '20' },
    only: { type: 'string' },
    seed: { type: 'string', default: 'pronghorn' },
    json: { type: 'string' },
  },
})
const { data, seed, only, samples } = options
const factors = options.factor.map(Number).sort((one, other) => one - other)
const sizes: SizePages[] = []
for (const factor of factors) {
  const folder = data === undefined ? {} : { data: join(data, `pages-${factor}`) }
  const counted = await countPages({ ...folder, seed, factor, only, samples: Number(samples) })
  sizes.push({ factor, kinds: [...counted].map(([name, requests]) => pagesOf(name, requests)) })
}
const table = new PrintedTable(headOf(factors))
for (const at of sizes[0]!.kinds.keys()) {
  table.row(
    cellsOf(
      sizes.map(({ kinds }) => kinds[at]!),
      factors,
    ),
  )
}
console.log(`\n${summaryOf(sizes)}`)
await storeFigures(options.json, { samples, sizes })
