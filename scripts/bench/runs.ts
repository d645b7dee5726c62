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
      'Speed of the filler on three kinds of blocks: blocks with transfers of contracts that are not indexed ("foreign"), empty blocks ("empty") and blocks full of NFT actions ("dense"). For the first two kinds, a reader that only acknowledges the blocks shows the possible speed. For dense blocks, a plain COPY of the resulting rows shows the possible speed; the filler is measured without and with query indexes. "market" compares indexing without the market, with the rows of the market, and also with the values derived from these rows.',
    ...{ program: 'filler', args: [] },
  },
  {
    name: 'nodes',
    title: 'Several nodes',
    about:
      'Speed of one reader with several nodes, each of which sends at most 40 MB/s. First, one node is compared with four nodes. Then the reader has five nodes, and four of them fail: one is killed, one is stopped, one sends slowly and one is on another chain. The blocks contain only transfers of contracts that are not indexed.',
    ...{ program: 'nodes', args: [] },
  },
  {
    name: 'latency',
    title: 'Live latency',
    about:
      'Delays of new blocks between three moments. "Frame": the node sends the frame of the block. "Commit": the filler has committed the block. "Event": the last of twenty websocket clients has the first event of the block. The delays are measured without load, and with 200 REST requests a second that all have different URLs. A block has four pushed actions on average.',
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
      'Times of 85 kinds of client requests with one to five filters. The values of the filters are chosen by frequency. The database has 2,000,000 generated assets with different mutable attributes, and changes twice a second. No answer is cached. Goal: nine of ten kinds have a p95 below 50 ms and a p50 below 15 ms.',
    ...{ program: 'traffic', args: ['--samples', '200'], factor: 2 },
  },
  {
    name: 'caches',
    title: 'Caches',
    about:
      'Requests a second of one api process, with and without each of its caches. Four connections send a mix of all routes of the section "Requests a second". The parameters are chosen by frequency, so popular values repeat. The database has 1,000,000 generated assets, and changes twice a second. The cache of answers retains an answer for two seconds, as with the `CACHE_LIFE` of `.env.example`.',
    ...{ program: 'caches', args: [], factor: 1 },
  },
  {
    name: 'pages',
    title: 'Pages',
    about:
      'Number of different pages of 8 kB that one request touches. A request reads so many pages from the disk if nothing is in memory. The requests are all kinds of the section "Traffic" and all routes of the section "Requests a second", on generated databases of two sizes. "Rows" is the mean number of rows of an answer. An exponent says how a mean grows with the size of the database: 0 is constant, 1 is proportional. "Above" is the share of the requests that touch more pages than the budget on the largest database; the cell is empty if the share is at most a tenth. "Most pages" names the tables and indexes with the most pages on the largest database, each with the mean number of pages.',
    ...{ program: 'pages', args: [], factor: [1, 8] },
  },
  {
    name: 'reader',
    title: 'The reader on a large database',
    about:
      'Live blocks on a database with 8,000,000 generated assets, whose server and page cache have a third of the size of the database as memory: two blocks a second with forty events each, which concern randomly picked assets, sales and auctions of the database. "Frame": the node sends the frame of the block. "Commit": the filler has committed the block. The second table has the tables with the most dead rows: autovacuum begins above the limit, and keeps up if the dead rows are not above the limit for long. The third table has blocks with one kind of event each: pages of 8 kB that one event writes, and bytes in the write-ahead log. PostgreSQL 18 flushes its commits.',
    ...{ program: 'reader', args: ['--memory', '0.33', '--seconds', '420'], factor: [8] },
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
