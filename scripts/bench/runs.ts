/** Benchmarks shown in `docs/performance.md`, and the results of their last run. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../services/core/paths/index.ts'

/** A benchmark of that page. */
export interface BenchRun {
  readonly name: string
  readonly title: string
  /** Description of the benchmark on the page. */
  readonly about: string
  /** Program in `scripts/bench`, without extension, and its parameters. */
  readonly program: string
  readonly args: readonly string[]
  /** Scale factor of the generated database, if the benchmark uses one. */
  readonly factor?: number
}

/** Last run of a bench, as stored in `scripts/bench/results.json`. */
export interface BenchResult extends Pick<BenchRun, 'name' | 'title' | 'about'> {
  /** Command that repeats the run. */
  readonly command: string
  /** Day of the run, ISO 8601. */
  readonly day: string
  readonly machine: {
    readonly processor: string
    readonly processors: number
    readonly memoryGb: number
    readonly node: string
    readonly postgres: string
  }
  /** Load average of one minute at the start: other work disturbs a measurement. */
  readonly loadBefore: number
  readonly seconds: number
  /** Output of the run: Markdown tables and text lines. */
  readonly output: string
}

/** All benchmarks, in the order of the page. */
export const benchRuns: readonly BenchRun[] = [
  {
    name: 'filler',
    title: 'Catching up',
    about:
      'Blocks of foreign transfers and empty blocks against a reader of the same blocks that only acknowledges; blocks full of NFT work against COPY alone of the rows that they become, and with all query indexes in place against without.',
    ...{ program: 'filler', args: [] },
  },
  {
    name: 'nodes',
    title: 'Several nodes',
    about:
      'Blocks of foreign transfers from one and from four nodes that send 40 MB/s each, and from five of which one is killed, one stopped, one dripping and one of another chain.',
    ...{ program: 'nodes', args: [] },
  },
  {
    name: 'latency',
    title: 'Live latency',
    about:
      'From the frame of a block, as the node sends it, to its commit, and until the last of twenty websockets has its first event of the block; without and with 200 REST requests a second, each another address. Blocks have four pushed actions on average.',
    ...{ program: 'latency', args: ['--seconds', '20'] },
  },
  {
    name: 'seals',
    title: 'Sealing at the head',
    about:
      'From a block of NFT work to its commit, one block at a time, while the history of the database is sealed in the background, and without seals; in turns.',
    ...{ program: 'seals', args: [] },
  },
  {
    name: 'rates',
    title: 'Requests a second',
    about:
      'One api process and four connections on 1,000,000 generated assets; every request has another address, and nothing is cached. "Plain" is a Node server without a framework that runs one prepared `SELECT 1` for each request.',
    ...{ program: 'rates', args: [], factor: 1 },
  },
  {
    name: 'traffic',
    title: 'Traffic',
    about:
      '85 kinds of request as clients send them, with one to five filters and values by their frequency, on 2,000,000 generated assets whose mutable attributes differ from asset to asset. The database changes twice a second, and no answer is cached. Wanted: nine kinds of ten with p95 below 50 ms and p50 below 15 ms.',
    ...{ program: 'traffic', args: ['--samples', '200'], factor: 2 },
  },
  {
    name: 'caches',
    title: 'Caches',
    about:
      'What each cache of one api process gains: the requests of "Requests a second" mixed, values by their frequency (a popular one comes again), four connections, two commits a second, 1,000,000 generated assets. "Answers" are cached for two seconds, as with the `CACHE_LIFE` of `.env.example`.',
    ...{ program: 'caches', args: [], factor: 1 },
  },
]

/** File with the results of the last runs, in the order of the page. */
const RESULTS = join(packageRoot, 'scripts/bench/results.json')

/** Stores the result of a run; replaces the previous result of the same benchmark. */
export function storeResult(result: BenchResult): void {
  const stored = JSON.parse(readFileSync(RESULTS, 'utf8')) as BenchResult[]
  const results = benchRuns.flatMap(({ name }) =>
    name === result.name ? result : (stored.find((other) => other.name === name) ?? []),
  )
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
}
