/**
 * Simulates the filler with seeded faults; see docs/simulation.md.
 * Usage: npm run simulate -- [--seeds 200] [--from 1] [--seed X [--times 20]] [--at-once 4] [--minutes N] [--verbose]
 */
import { parseArgs } from 'node:util'
import { createPool } from '../../services/core/database/index.ts'
import { chainOf } from './chain-plan.ts'
import { Chains } from './chains.ts'
import type { Chain } from './chains.ts'
import { replaceWallClock } from './clock.ts'
import { createBaseDatabase } from './databases.ts'
import { drawPlan } from './plan.ts'
import { runSeed } from './seed-run.ts'
import { startServer } from './server.ts'
import { Tally } from './tally.ts'

/** Log lines that are printed per failing seed if there are several seeds. */
const LINES_OF_MANY = 40

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    times: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '4' },
    minutes: { type: 'string', default: 'Infinity' },
    verbose: { type: 'boolean', default: false },
  },
})
const started = performance.now()
const isLate = () => performance.now() - started > Number(values.minutes) * 60_000

function listSeeds(): number[] {
  if (values.seed !== undefined) return new Array<number>(Number(values.times)).fill(Number(values.seed))
  const first = Number(values.from)
  return Array.from({ length: Number(values.seeds) }, (_, i) => first + i)
}

replaceWallClock()
const seeds = listSeeds()
const server = await startServer()
const { host, port, user, password } = server
const address = { host, port, user, password, database: 'postgres' }
const admin = createPool(address, { applicationName: 'simulation', max: 2 })
await admin.query('SELECT pg_reload_conf()')
const chains = new Chains(address, admin)
for (const readers of [1, 2] as const)
  await createBaseDatabase(admin, address, readers, (database) => chains.fillBase(database, readers))
const prepared = performance.now()

const tally = new Tally()
let failed = 0
let next = 0
let ran = 0
let current: { readonly number: number; readonly chain: Chain } | null = null

function chainFor(seed: number): Chain {
  const number = chainOf(seed)
  if (current?.number !== number) current = { number, chain: chains.make(number) }
  return current.chain
}

async function runNext(): Promise<void> {
  const place = next++
  const seed = seeds[place]!
  const chain = chainFor(seed)
  const plan = drawPlan(seed, chain.plan)
  const startedMs = performance.now()
  const { violations, log } = await runSeed({ plan, chain, server: address, admin, tally, place })
  ran++
  if (values.verbose) console.log(`seed ${seed}: ${Math.round(performance.now() - startedMs)} ms`)
  if (violations.length === 0) return
  failed++
  const { steps, ...settings } = plan
  console.log(`seed ${seed} broke a rule: ${JSON.stringify(settings)}`)
  for (const { happening, then } of steps) console.log(`  ${JSON.stringify(happening)}, then ${then}`)
  for (const violation of violations.slice(0, 10)) console.log(`  broken: ${violation}`)
  const lines = values.seed === undefined ? log.slice(-LINES_OF_MANY) : log
  for (const line of lines) console.log(`    ${line}`)
}

async function work(): Promise<void> {
  while (next < seeds.length && !isLate()) await runNext()
}

await Promise.all(Array.from({ length: Number(values['at-once']) }, work))
console.log('number of faults and events:')
for (const [name, count] of tally.entries()) console.log(`${String(count).padStart(8)} ${name}`)
const seconds = (performance.now() - prepared) / 1_000
const { user: userUs, system: systemUs } = process.cpuUsage()
console.log(
  `${ran} of ${seeds.length} seeds in ${seconds.toFixed(1)} s (preparation: ${((prepared - started) / 1_000).toFixed(1)} s); ` +
    `CPU time of this process: ${((userUs + systemUs) / 1e6).toFixed(1)} s; ${failed} seeds broke a rule`,
)
await admin.end()
await server.stop()
process.exitCode = failed === 0 ? 0 : 1
