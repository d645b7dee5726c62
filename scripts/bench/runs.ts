/** Benchmarks shown in `docs/performance.md`, and the results of their last run. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../services/core/paths/index.ts'

/** A benchmark of docs/performance.md. */
export interface BenchRun {
  readonly name: string
  readonly title: string
  /** Description of the benchmark in docs/performance.md. */
  readonly about: string
  /** Program in `scripts/bench`, without extension, and its parameters. */
  readonly program: string
  readonly args: readonly string[]
  /**
   * Scale factor of the generated database, if the benchmark has a generated database; several factors if the benchmark
   * compares sizes.
   */
  readonly factor?: number | readonly number[]
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

/** All benchmarks, in the order of docs/performance.md. */
export const benchRuns: readonly BenchRun[] = [
  {
    name: 'filler',
    title: 'Catching up',
    about:
      'Two loads of other contracts (blocks of foreign transfers, empty blocks) are compared with a reader that only acknowledges the same blocks. Blocks full of NFT actions are compared with a plain COPY of the resulting rows, and are indexed both with and without query indexes.',
    ...{ program: 'filler', args: [] },
  },
  {
    name: 'nodes',
    title: 'Several nodes',
    about:
      'Blocks of foreign transfers from one node and from four nodes that send 40 MB/s each, and from five nodes of which one is killed, one is stopped, one sends slowly and one is on another chain.',
    ...{ program: 'nodes', args: [] },
  },
  {
    name: 'latency',
    title: 'Live latency',
    about:
      'Time from the frame of a block, as the node sends it, to the commit of the block, and to the moment when the last of twenty websockets has the first event of the block; without load, and with 200 REST requests a second, each with another URL. A block has four pushed actions on average.',
    ...{ program: 'latency', args: ['--seconds', '20'] },
  },
  {
    name: 'seals',
    title: 'Sealing at the head',
    about:
      'Time from a block of NFT actions to its commit, one block at a time. Runs without seals alternate with runs in which the history of the database is sealed in the background.',
    ...{ program: 'seals', args: [] },
  },
  {
    name: 'rates',
    title: 'Requests a second',
    about:
      'One api process and four connections on 1,000,000 generated assets; every request has another URL, and nothing is cached. "Plain" is a Node server without a framework that runs one prepared `SELECT 1` for each request.',
    ...{ program: 'rates', args: [], factor: 1 },
  },
  {
    name: 'traffic',
    title: 'Traffic',
    about:
      '85 kinds of client requests with one to five filters, whose values are chosen by frequency, on 2,000,000 generated assets with different mutable attributes. The database changes twice a second, and no answer is cached. Goal: p95 below 50 ms and p50 below 15 ms for nine of ten kinds.',
    ...{ program: 'traffic', args: ['--samples', '200'], factor: 2 },
  },
  {
    name: 'caches',
    title: 'Caches',
    about:
      'Gain of each cache of one api process: a mix of the requests of "Requests a second" with values chosen by frequency (popular values repeat), four connections, two commits a second, 1,000,000 generated assets. "Answers" are cached for two seconds, as with the `CACHE_LIFE` of `.env.example`.',
    ...{ program: 'caches', args: [], factor: 1 },
  },
  {
    name: 'pages',
    title: 'Pages',
    about:
      'Distinct pages of 8 kB that one request touches, for each kind of "Traffic" and each route of "Requests a second", on generated databases of three sizes: what a request reads from the disk if nothing is in memory. Rows are the mean of the answers. The exponents say how the means grow with the size of the database: 0 is constant, 1 is proportional. "Above" is the share of the requests above the budget on the largest database, of kinds where it is more than a tenth. Last come the relations with the most pages on the largest database, with the mean number of pages.',
    ...{ program: 'pages', args: [], factor: [0.1, 0.4, 1.6] },
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
