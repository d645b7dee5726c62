/** Computes disk, memory, time and processors for a chain, from measured figures and assumptions about the chain. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../../services/core/paths/index.ts'

/** Row counts that determine the size of a database. */
export const drivers = ['assets', 'transfers', 'logs', 'offers', 'listings'] as const
export type Driver = (typeof drivers)[number]

const amount = z.number().positive()
const chainSchema = z.strictObject({
  name: z.string(),
  blocks: amount,
  bytesPerBlock: amount,
  assets: amount,
  transfers: amount,
  logs: amount,
  offers: amount,
  listings: amount,
  requestsPerSecond: amount,
})
/** Assumptions about a chain. */
export type AssumedChain = z.infer<typeof chainSchema>

const assumptionsSchema = z.strictObject({
  hotShareOfIndexes: amount,
  hotShareOfTables: amount,
  nodeMegabytesPerSecond: amount,
  indexBuildMegabytesPerSecond: amount,
  spareDisk: amount,
  /** Memory of each process, GB. */
  processes: z.strictObject({ filler: amount, api: amount, others: amount }),
  chains: z.array(chainSchema),
})
/** Assumptions about machines and chains. */
export type Assumptions = z.infer<typeof assumptionsSchema>

const bytesSchema = z.strictObject({
  command: z.string(),
  tables: z.record(
    z.string(),
    z.strictObject({ rows: amount, table: z.number().min(0), indexes: z.number().min(0) }),
  ),
})
/** Bytes per row, as measured by `bench/sizes.js`. */
export type MeasuredBytes = z.infer<typeof bytesSchema>

const ratesSchema = z.strictObject({
  machine: z.string(),
  filler: z.strictObject({
    command: z.string(),
    denseEvents: amount,
    denseSeconds: amount,
    foreignMegabytesPerSecond: amount,
    emptyBlocksPerSecond: amount,
  }),
  api: z.strictObject({
    command: z.string(),
    plainRequestsPerSecond: amount,
    processors: amount,
    ratios: z.record(z.string(), amount),
  }),
})
/** Events and requests a second, as measured by the benchmarks. */
export type MeasuredRates = z.infer<typeof ratesSchema>

const readsSchema = z.strictObject({
  command: z.string(),
  assets: amount,
  /**
   * Pages that a request reads from the disk, for each size of the server's memory. `memory`: the size as a share of
   * the database. `mean`: mean of all requests. `half`, `most`: a p95 that half of the kinds of request, or nine of ten
   * kinds, do not exceed.
   */
  measured: z.array(z.strictObject({ memory: amount, mean: amount, half: amount, most: amount })),
})
/** Pages that a request reads from the disk, as measured by `bench/traffic.js --memory`. */
export type MeasuredReads = z.infer<typeof readsSchema>

/** All figures from which docs/sizing.md is computed. */
export interface Figures {
  readonly bytes: MeasuredBytes
  readonly rates: MeasuredRates
  readonly reads: MeasuredReads
  readonly assumed: Assumptions
}

/**
 * Reads the figures in scripts/docs/sizing.
 * @throws if a file is malformed.
 */
export function readFigures(): Figures {
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(join(packageRoot, 'scripts/docs/sizing', name), 'utf8'))
  return {
    bytes: bytesSchema.parse(read('bytes.json')),
    rates: ratesSchema.parse(read('rates.json')),
    reads: readsSchema.parse(read('reads.json')),
    assumed: assumptionsSchema.parse(read('chains.json')),
  }
}

/** Bytes that one row of a driver (such as an asset) adds to the database, including the rows of dependent tables. */
export interface UnitBytes {
  readonly table: number
  readonly indexes: number
}

const counted: Readonly<Record<Driver, readonly string[]>> = {
  assets: ['assets.assets'],
  transfers: ['assets.transfers'],
  logs: ['assets.logs'],
  offers: ['assets.offers'],
  listings: ['market.sales', 'market.auctions', 'market.buyoffers', 'market.template_buyoffers'],
}

/**
 * The driver of a table: assets, transfers, logs, offers or listings. The table's number of rows is proportional to the
 * number of its driver. `assets.blocks` has rows for transfers and logs; its driver is `transfers`.
 */
function driverOf(table: string): Driver | undefined {
  if (table === 'assets.blocks') return 'transfers'
  if (/^assets\.(?:offers|open_offer_assets|offer_counts)$/.test(table)) return 'offers'
  for (const driver of drivers) if (counted[driver].includes(table)) return driver
  if (table.startsWith('assets.')) return 'assets'
  return table.startsWith('market.') ? 'listings' : undefined
}

/**
 * Bytes in the database per asset, transfer, log, offer and listing, including rows of the tables that they drive.
 */
export function unitBytes({ tables }: MeasuredBytes): Record<Driver, UnitBytes> {
  const entries = drivers.map((driver) => {
    const rows = counted[driver].reduce((sum, name) => sum + (tables[name]?.rows ?? 0), 0)
    const own = Object.entries(tables).filter(([name]) => driverOf(name) === driver)
    const per = (part: 'table' | 'indexes'): number =>
      own.reduce((sum, [, each]) => sum + each.rows * each[part], 0) / rows
    return [driver, { table: per('table'), indexes: per('indexes') }] as const
  })
  return Object.fromEntries(entries) as Record<Driver, UnitBytes>
}

/** Resources that an installation needs for a chain. */
export interface ChainSize {
  /** Disk space, bytes. */
  readonly tables: number
  readonly indexes: number
  readonly disk: number
  /** Memory for PostgreSQL, GB. */
  readonly databaseMemory: number
  readonly memory: number
  /** Days until the reader reaches the head, and the shares of the node, the filler and the index builds. */
  readonly days: {
    readonly node: number
    readonly filler: number
    readonly indexes: number
    readonly all: number
  }
  readonly processors: number
}

const GB = 1e9
const MB = 1e6
const DAY_S = 86_400

/** Requests a second per processor, if all measured kinds of request are equally frequent. */
export function requestsPerProcessor({ api }: MeasuredRates): number {
  const rates = Object.values(api.ratios).map((ratio) => ratio * api.plainRequestsPerSecond)
  const meanSeconds = rates.reduce((sum, rate) => sum + 1 / rate, 0) / rates.length
  return 1 / meanSeconds / api.processors
}

/** Computes the resources for a chain. */
export function sizeOf(
  chain: AssumedChain,
  { bytes, rates, assumed }: { bytes: MeasuredBytes; rates: MeasuredRates; assumed: Assumptions },
): ChainSize {
  const units = unitBytes(bytes)
  const sum = (part: 'table' | 'indexes'): number =>
    drivers.reduce((total, driver) => total + chain[driver] * units[driver][part], 0)
  const tables = sum('table')
  const indexes = sum('indexes')
  const hot = tables * assumed.hotShareOfTables + indexes * assumed.hotShareOfIndexes
  const databaseMemory = Math.max(4, hot / GB)
  const { filler, api, others } = assumed.processes
  const stream = chain.blocks * chain.bytesPerBlock
  // Each offer and listing has two events: its creation and its end.
  const events = chain.assets + chain.transfers + chain.logs + chain.offers * 2 + chain.listings * 2
  const node = stream / (assumed.nodeMegabytesPerSecond * MB) / DAY_S
  const work =
    (stream / (rates.filler.foreignMegabytesPerSecond * MB) +
      chain.blocks / rates.filler.emptyBlocksPerSecond +
      (events * rates.filler.denseSeconds) / rates.filler.denseEvents) /
    DAY_S
  const building = indexes / (assumed.indexBuildMegabytesPerSecond * MB) / DAY_S
  return {
    tables,
    indexes,
    disk: (tables + indexes) * assumed.spareDisk,
    databaseMemory,
    memory: databaseMemory + filler + api + others,
    days: { node, filler: work, indexes: building, all: Math.max(node, work) + building },
    processors: chain.requestsPerSecond / requestsPerProcessor(rates),
  }
}
