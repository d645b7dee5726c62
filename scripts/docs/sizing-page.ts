/** The page about sizing: resources that a chain needs, computed from scripts/docs/sizing. */
import { code, table } from './markdown.ts'
import { drivers, readFigures, requestsPerProcessor, sizeOf, unitBytes } from './sizing/compute.ts'

/** The sections of the page, as Markdown. */
export function renderSizing(): string[] {
  const figures = readFigures()
  const { bytes, rates, assumed } = figures
  const units = unitBytes(bytes)
  const sizes = assumed.chains.map((chain) => [chain, sizeOf(chain, figures)] as const)
  const { filler, api } = rates
  return [
    '# Sizing',
    'What an installation takes, computed by `scripts/docs/sizing/compute.ts` from measured figures and from assumptions. ' +
      '**Measured** are bytes a row, events and requests a second; **assumed** are how many rows a chain has, how fast its ' +
      'node sends, and which share of the data is in use. Put the numbers of your chain into `scripts/docs/sizing/chains.json` ' +
      'and run `npm run docs:write`.',
    '## What a chain takes',
    table(
      ['', ...sizes.map(([{ name }]) => name)],
      [
        ['Disk, with room for a third more', ...sizes.map(([, size]) => showBytes(size.disk))],
        ['of it tables', ...sizes.map(([, size]) => showBytes(size.tables))],
        ['of it indexes', ...sizes.map(([, size]) => showBytes(size.indexes))],
        [
          'Memory for PostgreSQL (`PG_MEMORY`)',
          ...sizes.map(([, size]) => `${Math.ceil(size.databaseMemory)} GB`),
        ],
        ['Memory of the machine', ...sizes.map(([, size]) => `${Math.ceil(size.memory)} GB`)],
        ['Days to the head', ...sizes.map(([, size]) => showDays(size.days.all))],
        [
          'of them the node or the filler',
          ...sizes.map(([, { days }]) => showDays(Math.max(days.node, days.filler))),
        ],
        [
          'which of the two is the limit',
          ...sizes.map(([, { days }]) => (days.node > days.filler ? 'node' : 'filler')),
        ],
        ['of them building the indexes', ...sizes.map(([, { days }]) => showDays(days.indexes))],
        ['Requests a second, assumed', ...sizes.map(([chain]) => showCount(chain.requestsPerSecond))],
        [
          'Processors for them, of the api and of PostgreSQL',
          ...sizes.map(([, size]) => (Math.ceil(size.processors * 10) / 10).toFixed(1)),
        ],
      ],
    ),
    'A machine has at least four processors for the filler to keep up while clients ask. Backups come on top, on another disk; ' +
      'the weekly comparison takes the size of the database in the volume `backup-scratch` while it runs.',
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
    `One node sends ${assumed.nodeMegabytesPerSecond} MB/s (several send that many times as much), indexes are built at ` +
      `${assumed.indexBuildMegabytesPerSecond} MB/s, ${percent(assumed.hotShareOfIndexes)} of the indexes and ` +
      `${percent(assumed.hotShareOfTables)} of the tables are in use and stay in memory, the filler has ` +
      `${assumed.processes.filler} GB, the api ${assumed.processes.api} GB, everything else ${assumed.processes.others} GB. ` +
      'None of these was measured on a real chain. Templates, schemas and collections are too few to matter.',
    '## Measured: bytes',
    `Bytes for each row and everything that comes with it, by ${code(bytes.command)}:`,
    table(
      ['Of each', 'Table', 'Indexes', 'Together'],
      drivers.map((driver) => {
        const { table: own, indexes } = units[driver]
        return [driverNames[driver], showCount(own), showCount(indexes), showCount(own + indexes)]
      }),
    ),
    'By table:',
    table(
      ['Table', 'Rows', 'Bytes a row', 'of its indexes'],
      Object.entries(bytes.tables).map(([name, each]) => [
        code(name),
        showCount(each.rows),
        each.table.toFixed(1),
        each.indexes.toFixed(1),
      ]),
    ),
    '## Measured: speed',
    `On ${rates.machine}.`,
    `The filler, by ${code(filler.command)}: ${showCount(filler.denseEvents / filler.denseSeconds)} NFT events a second ` +
      `before query indexes are there, ${showCount(filler.foreignMegabytesPerSecond)} MB/s of blocks of other contracts, ` +
      `${showCount(filler.emptyBlocksPerSecond)} empty blocks a second. It was measured with tables that fit into memory.`,
    `The api, by ${code(api.command)}, one process, nothing cached, with 1,000,000 assets; a server that runs one prepared ` +
      `\`SELECT 1\` answers ${showCount(api.plainRequestsPerSecond)} a second there:`,
    table(
      ['Request', 'Requests a second', 'of a processor'],
      Object.entries(api.ratios).map(([name, ratio]) => [
        name,
        showCount(ratio * api.plainRequestsPerSecond),
        showCount((ratio * api.plainRequestsPerSecond) / api.processors),
      ]),
    ),
    `All of them equally often: ${showCount(requestsPerProcessor(rates))} a second of each processor; what is cached comes on top.`,
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

function showDays(days: number): string {
  if (days >= 1) return `${days.toFixed(1)} days`
  return days * 24 >= 1 ? `${(days * 24).toFixed(1)} hours` : `${Math.ceil(days * 24 * 60)} minutes`
}
