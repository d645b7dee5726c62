/**
 * Measures the reader at the head of a chain whose blocks concern the entities of a generated database.
 * Usage: node dist/scripts/bench/reader.js --data FOLDER --factor N [--memory SHARE] [--rate BLOCKS_PER_SECOND (2)]
 * [--events EVENTS_PER_BLOCK (40)] [--seconds S (600)] [--pass BLOCKS (40)] [--postgres 14|18 (18)] [--json FILE]
 *
 * The database is in FOLDER/pages-N, as in the bench `pages`, and is generated there if it is missing. A run adds
 * blocks to the database: copy FOLDER/pages-N before the run if other measurements need it unchanged. The next run
 * continues after the last block.
 * - --memory limits the memory of PostgreSQL, page cache included, to a share of the database (needs root). The run
 *   then begins with an empty page cache, and counts the pages read from the disk.
 * - --pass: number of blocks in the measurement of one kind of event.
 *
 * Events concern assets, sales and auctions that are picked at random before the server starts with the memory limit.
 * The contracts of the demo chain execute the events, and a separate process runs the reader. PostgreSQL has the
 * settings of the appliance, and flushes its commits.
 *
 * First measures S seconds of blocks with all kinds of event, as frequent as in the database. A tenth of that time
 * before does not count. Prints the time from the frame of a block to its commit, the blocks that the reader is behind
 * at the end, and the dead rows of the tables, sampled every ten seconds.
 *
 * Then measures blocks with one kind of event each, without autovacuum. A checkpoint before and one after write all
 * changed pages, so pages written are pages that the kind changes; a page that changes several times counts once. The
 * blocks become irreversible together at the end, so the removal of their undo rows counts. An event's numbers include
 * its share of the block; the row of blocks without events shows how much that is.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { ContinuedChain } from '../lab/index.ts'
import { applianceSettings } from './appliance-settings.ts'
import { Random } from './generated/choice.ts'
import { newestServer, openGeneratedServer, startGeneratedServer } from './generated-server.ts'
import { openLimitedServer } from './memory-limit.ts'
import type { LimitedServer } from './memory-limit.ts'
import { countersBetween, readCounters, setAutovacuum, VacuumWatch } from './reader/counters.ts'
import { Entities } from './reader/entities.ts'
import { kindNames, mix } from './reader/kinds.ts'
import type { EventSource } from './reader/kinds.ts'
import { ReaderRun } from './reader/run.ts'
import type { Made } from './reader/run.ts'
import { PrintedTable, storeFigures } from './report.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    factor: { type: 'string', default: '1' },
    seed: { type: 'string', default: 'pronghorn' },
    memory: { type: 'string' },
    rate: { type: 'string', default: '2' },
    events: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '600' },
    pass: { type: 'string', default: '40' },
    postgres: { type: 'string', default: '18' },
    json: { type: 'string' },
  },
})
const [rate, eventsPerBlock] = [Number(values.rate), Number(values.events)]
const [mixedBlocks, passBlocks] = [Math.round(rate * Number(values.seconds)), Number(values.pass)]
const warmBlocks = Math.ceil(mixedBlocks / 10)
const pace = { perSecond: rate, events: eventsPerBlock }

/** Settings of the appliance that concern writing, and commits that are flushed. */
const settings = {
  ...{ fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
  ...applianceSettings('wal_compression', 'checkpoint_timeout'),
  ...applianceSettings('autovacuum_max_workers', 'autovacuum_naptime', 'autovacuum_vacuum_cost_limit'),
}
const SAMPLE_MS = 10_000
/** Kinds draw more assets than they use: some assets cannot be transferred, burned or edited. */
const SPARE = 1.3
/** Autovacuum keeps up if the dead rows of no table are above their limit for this time: a few rounds of autovacuum. */
const MOST_SECONDS_ABOVE = 120
/** Number of tables with dead rows that are printed. */
const MOST_TABLES = 25
const contracts = ['atomicassets', 'atomicmarket', 'delphioracle']

const parent = values.data ?? (await mkdtemp(join(tmpdir(), 'pronghorn-reader-')))
const given = { data: join(parent, `pages-${values.factor}`), seed: values.seed, factor: values.factor }
try {
  await measure(await pickEntities())
} finally {
  if (values.data === undefined) await rm(parent, { recursive: true })
}

/** Picks entities while the server has no memory limit; generates the database if it is missing. */
async function pickEntities(): Promise<Entities> {
  const server = await startGeneratedServer(
    { ...given, factor: Number(given.factor), server: values.postgres === '14' ? {} : newestServer },
    (step) => {
      console.error(step)
    },
  )
  const database = await connectDatabase(server.address, { applicationName: 'bench' })
  const [mixed, pass] = [(mixedBlocks + warmBlocks) * eventsPerBlock, passBlocks * eventsPerBlock]
  const wanted = {
    assets: Math.ceil((mixed + pass * (kindNames.length + 1)) * SPARE),
    sales: mixed + 2 * pass,
    auctions: mixed + pass,
  }
  try {
    // A run that was killed may have left autovacuum off.
    await setAutovacuum(database, true)
    return await Entities.read(database, wanted, new Random(values.seed))
  } finally {
    await database.end()
    await server.stop()
  }
}

async function measure(entities: Entities): Promise<void> {
  const chain = new ContinuedChain(entities.position)
  entities.addTo(chain)
  const limited =
    values.memory === undefined ? undefined : await openLimitedServer(given, Number(values.memory), settings)
  const server = limited ?? (await openGeneratedServer(given, settings))
  const { shipUrl, httpUrl } = await chain.start()
  const source = { chain, entities, random: new Random(`${values.seed} events`) }
  const run = new ReaderRun(source)
  const measured = { run, source, address: server.address, limited }
  try {
    run.startReader(server.address, { chainId: entities.position.chainId, http: httpUrl, ship: shipUrl })
    // The generator stores no ABIs.
    run.produce([chain.abisOf(contracts)])
    await run.committed()
    const live = await measureMix(measured)
    const passes = await measureKinds(measured)
    const { factor, rate: blocksPerSecond, events, memory } = values
    const memoryBytes = limited?.memoryBytes
    await storeFigures(values.json, {
      ...{ factor, blocksPerSecond, events, memory, memoryBytes, ...live, passes },
    })
  } finally {
    await run.stop()
    await chain.stop()
    await server.stop()
  }
}

/** A run, and the server that is measured. */
interface Measured {
  readonly run: ReaderRun
  readonly source: EventSource
  readonly address: DatabaseAddress
  readonly limited: LimitedServer | undefined
}

/** Measures blocks with all kinds of event. */
async function measureMix({ run, source, address, limited }: Measured) {
  if (mixedBlocks === 0) return {}
  await run.produceAtRate({ ...pace, blocks: warmBlocks }, () => source.random.weighted(mix))
  await run.committed()
  const database = await connectDatabase(address, { applicationName: 'bench' })
  const watch = new VacuumWatch(database)
  await watch.sample()
  let sampling: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    sampling = sampling.then(() => watch.sample())
  }, SAMPLE_MS)
  const before = limited?.pagesRead()
  const first = run.sent
  const made = await run.produceAtRate({ ...pace, blocks: mixedBlocks }, () => source.random.weighted(mix))
  const behind = run.behind
  await run.committed()
  clearInterval(timer)
  await sampling
  await watch.sample()
  await database.end()
  const events = sum(made)
  const pagesRead = before === undefined ? undefined : (limited!.pagesRead() - before) / events
  const live = {
    ...{ blocks: mixedBlocks, events, byKind: Object.fromEntries(made), behind, pagesRead },
    eventsPerSecond: events / run.secondsFrom(first),
    toCommit: run.timesFrom(first),
  }
  printMix(live)
  printVacuum(watch)
  return { live, tables: watch.tables }
}

/** Measures blocks without events, and blocks with events of one kind each. */
async function measureKinds({ run, source, address, limited }: Measured) {
  const database = await connectDatabase(address, { applicationName: 'bench' })
  await setAutovacuum(database, false)
  try {
    // The removal of older undo rows must not count.
    await settle(run, source)
    const head = ['Blocks with only', 'Events', 'Pages written', 'Full pages in the WAL', 'WAL bytes']
    const read = limited ? ['Pages read'] : []
    console.log(`\nEach kind of event alone, ${passBlocks} blocks; all numbers are of one event:\n`)
    const table = new PrintedTable([...head, ...read, 'Frame to commit: p50, p99 ms'])
    const passes = []
    let before = await readCounters(database)
    for (const kind of [undefined, ...kindNames]) {
      const [readBefore, first] = [limited?.pagesRead() ?? 0, run.sent]
      const made = await run.produceAtRate({ ...pace, blocks: passBlocks }, () => kind)
      await run.committed()
      const toCommit = run.timesFrom(first)
      await settle(run, source)
      const pagesRead = (limited?.pagesRead() ?? 0) - readBefore
      const after = await readCounters(database)
      const { pages, fullImages, walBytes } = countersBetween(before, after)
      before = after
      const events = sum(made)
      const parts = kind === undefined ? passBlocks : events
      passes.push({ kind: kind ?? null, events, pages, fullImages, walBytes, pagesRead, toCommit })
      if (parts === 0) {
        table.row([kind ?? '', 'none: the database has no more rows for them'])
        continue
      }
      const each = [pages, fullImages].map((count) => (count / parts).toFixed(2))
      table.row([
        ...[kind ?? 'no events (of one block)', events, ...each, Math.round(walBytes / parts)],
        ...(limited ? [(pagesRead / parts).toFixed(2)] : []),
        `${toCommit.p50}, ${toCommit.p99}`,
      ])
    }
    return passes
  } finally {
    await setAutovacuum(database, true)
    await database.end()
  }
}

/** Makes all blocks irreversible with a block without events; later blocks stay reversible. */
async function settle(run: ReaderRun, { chain }: EventSource): Promise<void> {
  chain.libLagBlocks = 0
  run.produce([])
  chain.libLagBlocks = Infinity
  await run.committed()
}

function sum(made: Made): number {
  return [...made.values()].reduce((total, count) => total + count, 0)
}

function printMix(live: {
  readonly blocks: number
  readonly events: number
  readonly byKind: Readonly<Record<string, number>>
  readonly behind: number
  readonly pagesRead: number | undefined
  readonly eventsPerSecond: number
  readonly toCommit: Readonly<Record<'p50' | 'p95' | 'p99' | 'max', number>>
}): void {
  const { toCommit, pagesRead, behind } = live
  const read = pagesRead === undefined ? [] : ['Pages read for an event']
  const times = ['p50', 'p95', 'p99', 'longest'].map((name) => `Frame to commit: ${name} ms`)
  const committed = ['Events/s committed', ...times, 'Blocks behind at the end', ...read]
  const table = new PrintedTable(['Blocks/s', 'Blocks', 'Events', ...committed])
  table.row([
    ...[rate, live.blocks, live.events, live.eventsPerSecond.toFixed(1)],
    ...[toCommit.p50, toCommit.p95, toCommit.p99, toCommit.max, behind],
    ...(pagesRead === undefined ? [] : [pagesRead.toFixed(2)]),
  ])
  const counts = Object.entries(live.byKind).map(([kind, count]) => `${kind} ${count}`)
  console.log(`\nevents: ${counts.join(', ')}\n`)
}

function printVacuum({ tables }: VacuumWatch): void {
  const dead = ['at the begin', 'at the end', 'most', 'vacuum begins above', 'longest above, s']
  const table = new PrintedTable(['Table', ...dead.map((what) => `Dead rows: ${what}`), 'Vacuums'])
  for (const { name, deadAtBegin, dead: now, mostDead, limit, secondsAbove, vacuums } of tables.slice(
    0,
    MOST_TABLES,
  ))
    table.row([name, deadAtBegin, now, mostDead, Math.round(limit), secondsAbove, vacuums])
  const behind = tables.filter(({ secondsAbove }) => secondsAbove > MOST_SECONDS_ABOVE)
  const names = behind.map(({ name, secondsAbove }) => `${name} (${secondsAbove} s)`)
  console.log(
    `\ntables with more dead rows than begin a vacuum for over ${MOST_SECONDS_ABOVE} s: ${names.join(', ') || 'none'}`,
  )
}
