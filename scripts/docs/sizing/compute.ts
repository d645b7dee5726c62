/** How much disk, memory, time and processing a chain takes, from measured figures and from what is assumed of the chain. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../../services/core/paths/index.ts'

/** Rows that the size of a database follows from. */
export const drivers = ['assets', 'transfers', 'logs', 'offers', 'listings'] as const
/** One of them. */
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
/** What is assumed of a chain. */
export type AssumedChain = z.infer<typeof chainSchema>

const assumptionsSchema = z.strictObject({
  hotShareOfIndexes: amount,
  hotShareOfTables: amount,
  nodeMegabytesPerSecond: amount,
  indexBuildMegabytesPerSecond: amount,
  spareDisk: amount,
  /** GB of memory. */
  processes: z.strictObject({ filler: amount, api: amount, others: amount }),
  chains: z.array(chainSchema),
})
/** What is assumed of machines and chains. */
export type Assumptions = z.infer<typeof assumptionsSchema>

const bytesSchema = z.strictObject({
  command: z.string(),
  tables: z.record(
    z.string(),
    z.strictObject({ rows: amount, table: z.number().min(0), indexes: z.number().min(0) }),
  ),
})
/** Bytes a row, as `bench/sizes.js` has measured them. */
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
/** Events and requests a second, as the benches have measured them. */
export type MeasuredRates = z.infer<typeof ratesSchema>

/** The figures in scripts/docs/sizing. @throws when a file does not have its form. */
export function readFigures(): { bytes: MeasuredBytes; rates: MeasuredRates; assumed: Assumptions } {
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(join(packageRoot, 'scripts/docs/sizing', name), 'utf8'))
  return {
    bytes: bytesSchema.parse(read('bytes.json')),
    rates: ratesSchema.parse(read('rates.json')),
    assumed: assumptionsSchema.parse(read('chains.json')),
  }
}

/** Bytes of everything that comes with one row of a driver. */
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

/** What the rows of a table come with; blocks come with transfers and logs, and count for the former. */
function driverOf(table: string): Driver | undefined {
  if (table === 'assets.blocks') return 'transfers'
  if (/^assets\.(?:offers|open_offer_assets|offer_counts)$/.test(table)) return 'offers'
  for (const driver of drivers) if (counted[driver].includes(table)) return driver
  if (table.startsWith('assets.')) return 'assets'
  return table.startsWith('market.') ? 'listings' : undefined
}

/** Bytes for each row of a driver: its own, and those of the tables that grow with it. */
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

/** What a chain takes. */
export interface ChainSize {
  /** Bytes. */
  readonly tables: number
  readonly indexes: number
  readonly disk: number
  /** GB. */
  readonly databaseMemory: number
  readonly memory: number
  /** Days until the head is reached, and what of it is the time of the node, the filler, and the building of indexes. */
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

/** Requests a second of one processor, when every measured kind is asked equally often. */
export function requestsPerProcessor({ api }: MeasuredRates): number {
  const rates = Object.values(api.ratios).map((ratio) => ratio * api.plainRequestsPerSecond)
  const meanSeconds = rates.reduce((sum, rate) => sum + 1 / rate, 0) / rates.length
  return 1 / meanSeconds / api.processors
}

/** Computes the size of a chain. */
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
  // A listing is announced, and bought or ended.
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
