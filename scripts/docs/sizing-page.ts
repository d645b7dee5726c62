/** The page about sizing: resources that a chain needs, computed from scripts/docs/sizing. */
import { code, table } from './markdown.ts'
import { drivers, readFigures, requestsPerProcessor, sizeOf, unitBytes } from './sizing/compute.ts'

/** The sections of docs/sizing.md, as Markdown. */
export function renderSizing(): string[] {
  const figures = readFigures()
  const { bytes, rates, reads, assumed } = figures
  const units = unitBytes(bytes)
  const sizes = assumed.chains.map((chain) => [chain, sizeOf(chain, figures)] as const)
  const { filler, api } = rates
  return [
    '# Sizing',
    '`scripts/docs/sizing/compute.ts` computes the resources of an installation from measurements and assumptions. ' +
      '**Measured:** bytes of a row, events and requests a second. ' +
      '**Assumed:** the number of rows of a chain, the speed of its node, and the share of the data that is in use. ' +
      'Put the numbers of your chain into `scripts/docs/sizing/chains.json` and run `npm run docs:write`.',
    '## Resources of a chain',
    table(
      ['', ...sizes.map(([{ name }]) => name)],
      [
        ['Disk, with room for a third more', ...sizes.map(([, size]) => showBytes(size.disk))],
        ['tables', ...sizes.map(([, size]) => showBytes(size.tables))],
        ['indexes', ...sizes.map(([, size]) => showBytes(size.indexes))],
        [
          'Memory for PostgreSQL (`PG_MEMORY`)',
          ...sizes.map(([, size]) => `${Math.ceil(size.databaseMemory)} GB`),
        ],
        ['Memory of the machine', ...sizes.map(([, size]) => `${Math.ceil(size.memory)} GB`)],
        ['Days to the head', ...sizes.map(([, size]) => showDays(size.days.all))],
        [
          'days to read all blocks, at the speed of the slower of node and filler',
          ...sizes.map(([, { days }]) => showDays(Math.max(days.node, days.filler))),
        ],
        [
          'the limit: node or filler',
          ...sizes.map(([, { days }]) => (days.node > days.filler ? 'node' : 'filler')),
        ],
        ['days to build the indexes', ...sizes.map(([, { days }]) => showDays(days.indexes))],
        ['Requests a second, assumed', ...sizes.map(([chain]) => showCount(chain.requestsPerSecond))],
        [
          'Processors that the api and PostgreSQL together need for the assumed requests',
          ...sizes.map(([, size]) => (Math.ceil(size.processors * 10) / 10).toFixed(1)),
        ],
      ],
    ),
    'A machine needs at least four processors, so that the filler keeps up while clients send requests. ' +
      'Backups need additional space on another disk. ' +
      'While the weekly comparison of a backup runs, the volume `backup-scratch` needs the size of the database.',
    '## Assumed',
    table(
      ['', ...assumed.chains.map(({ name }) => name)],
      [
        ...drivers.map((driver) => [
          driverNames[driver],
          ...assumed.chains.map((chain) => showCount(chain[driver])),
        ]),
        ['blocks', ...assumed.chains.map(({ blocks }) => showCount(blocks))],
        [
          'bytes of a block in the state-history stream',
          ...assumed.chains.map((chain) => showCount(chain.bytesPerBlock)),
        ],
      ],
    ),
    `One node sends ${assumed.nodeMegabytesPerSecond} MB/s, n nodes send n times as much. ` +
      `Indexes are built at ${assumed.indexBuildMegabytesPerSecond} MB/s. ` +
      `${percent(assumed.hotShareOfIndexes)} of the indexes and ${percent(assumed.hotShareOfTables)} of the tables are in use and stay in memory. ` +
      `The filler takes ${assumed.processes.filler} GB of memory, the api ${assumed.processes.api} GB, everything else ${assumed.processes.others} GB. ` +
      'None of these numbers was measured on a real chain. ' +
      'For WAX one public number was found: [over 450 million NFTs](https://grokipedia.com/page/WAX_blockchain) exist; the table assumes 500 million, because burned assets stay in the database. ' +
      'Templates, schemas and collections are not counted, because they are few.',
    '## Measured: bytes',
    `Bytes of one row and of all rows derived from it, measured by ${code(bytes.command)}:`,
    table(
      ['One of', 'Table', 'Indexes', 'Together'],
      drivers.map((driver) => {
        const { table: own, indexes } = units[driver]
        return [driverNames[driver], showCount(own), showCount(indexes), showCount(own + indexes)]
      }),
    ),
    'By table:',
    table(
      ['Table', 'Rows', 'Bytes a row', 'Index bytes a row'],
      Object.entries(bytes.tables).map(([name, each]) => [
        code(name),
        showCount(each.rows),
        each.table.toFixed(1),
        each.indexes.toFixed(1),
      ]),
    ),
    '## Measured: reads from the disk',
    `Number of pages of 8 kB that a request reads from the disk, measured by ${code(reads.command)} on ${showCount(reads.assets)} assets. ` +
      'All 85 kinds of request of user traffic come in turns and equally often. The memory of PostgreSQL and of its page cache is limited to a share of the size of the database:',
    table(
      [
        'Memory, as a share of the database',
        'Mean',
        'Half of the kinds have a p95 of at most',
        'Nine of ten kinds have a p95 of at most',
      ],
      reads.measured.map(({ memory, mean, half, most }) => [
        percent(memory),
        showCount(mean),
        showCount(half),
        showCount(most),
      ]),
    ),
    'If responses take too long while `cache_hit_share` of `/health` is low, raise `PG_MEMORY`. ' +
      'On a larger database, a request reads more pages.',
    '## Memory and disk for a response time',
    'Choose the p95 of a response that clients accept, the row with this p95 and the memory of the row. ' +
      'The reads a second are those of the assumed requests, if no answer comes from the cache of the api. ' +
      'A request reads its pages mostly one after the other, so its p95 is the number of its pages times the duration of a read: ' +
      'about 0.1 ms for a local NVMe disk, about 1 ms for a disk behind a network. ' +
      'The p95 is that of nine of ten kinds of request. ' +
      'With n replicas of the same memory, each replica reads an n-th of the pages a second, and the p95 stays the same.',
    table(
      ['Chain', '`PG_MEMORY`', 'Reads a second', 'p95, reads of 0.1 ms', 'p95, reads of 1 ms'],
      sizes.flatMap(([chain, size]) =>
        reads.measured.map(({ memory, mean, most }) => [
          chain.name,
          `${Math.ceil(((size.tables + size.indexes) * memory) / 1e9)} GB (${percent(memory)})`,
          showCount(chain.requestsPerSecond * mean),
          showSeconds(most * 0.000_1),
          showSeconds(most * 0.001),
        ]),
      ),
    ),
    '## Measured: speed',
    `Measured on ${rates.machine}.`,
    `Measured by ${code(filler.command)}, the filler indexes ${showCount(filler.denseEvents / filler.denseSeconds)} NFT events a second while the query indexes do not exist yet; ` +
      `the filler reads ${showCount(filler.foreignMegabytesPerSecond)} MB/s of blocks with actions of other contracts only, or ${showCount(filler.emptyBlocksPerSecond)} empty blocks a second. ` +
      'The tables fitted into memory.',
    `The requests of the api were measured by ${code(api.command)}: one api process without a cache, on a database with 1,000,000 assets. ` +
      `On the same machine, a server that runs one prepared \`SELECT 1\` answers ${showCount(api.plainRequestsPerSecond)} requests a second:`,
    table(
      ['Request', 'Requests a second', 'Requests a second and processor'],
      Object.entries(api.ratios).map(([name, ratio]) => [
        name,
        showCount(ratio * api.plainRequestsPerSecond),
        showCount((ratio * api.plainRequestsPerSecond) / api.processors),
      ]),
    ),
    `With equal shares of the requests in the table, each processor answers ${showCount(requestsPerProcessor(rates))} requests a second; answers from the cache are not included.`,
  ]
}

const driverNames = {
  assets: 'assets ever minted',
  transfers: 'transfers',
  logs: 'log entries',
  offers: 'offers',
  listings: 'sales, auctions, buy offers',
} as const

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function showCount(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

function showBytes(bytes: number): string {
  return bytes >= 1e12 ? `${(bytes / 1e12).toFixed(1)} TB` : `${Math.ceil(bytes / 1e9)} GB`
}

function showSeconds(seconds: number): string {
  return `${seconds < 0.1 ? seconds.toFixed(2) : seconds.toFixed(1)} s`
}

function showDays(days: number): string {
  if (days >= 1) return `${days.toFixed(1)} days`
  if (days * 24 >= 1) return `${(days * 24).toFixed(1)} hours`
  const minutes = Math.ceil(days * 24 * 60)
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}
