/**
 * Runs the benchmarks of `docs/performance.md` in sequence and stores their output in `scripts/bench/results.json`.
 * Usage: npm run bench [-- [NAME ...] [--data FOLDER]]
 *
 * `--data`: folder that stores the generated databases for later runs, such as `factor-1`, or `pages-0.1` for the bench
 * `pages`. Without the option each run generates the databases, which takes minutes. Other load of the machine distorts
 * the figures.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { benchRuns, storeResult } from './runs.ts'
import type { BenchResult, BenchRun } from './runs.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { data: { type: 'string' } },
})
const wanted = benchRuns.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const machine = await describeMachine()
for (const bench of wanted) storeResult(await run(bench))
console.log('\nstored; `npm run docs:write` writes docs/performance.md')

async function run(bench: BenchRun): Promise<BenchResult> {
  console.log(`\n# ${bench.title}`)
  const program = import.meta.filename.replace(/run\.(js|ts)$/, `${bench.program}.$1`)
  const startedMs = performance.now()
  const loadBefore = Number(loadavg()[0]!.toFixed(1))
  const child = spawn(process.execPath, [program, ...bench.args, ...databaseArgs(bench)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    process.stdout.write(text)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`bench ${bench.name} exited with ${String(code)}`)
  const seconds = Math.round((performance.now() - startedMs) / 1_000)
  const { name, title, about } = bench
  const day = new Date().toISOString().slice(0, 10)
  return {
    name,
    title,
    about,
    command: commandOf(bench),
    day,
    machine,
    loadBefore,
    seconds,
    output: output.trim(),
  }
}

function commandOf({ program, args, factor }: BenchRun): string {
  const parameters = [...args, ...factorArgs(factor)]
  return ['npm run build && node', `dist/scripts/bench/${program}.js`, ...parameters].join(' ')
}

function databaseArgs({ factor }: BenchRun): readonly string[] {
  const { data } = options
  if (factor === undefined || data === undefined) return factorArgs(factor)
  // A bench that compares several sizes creates one subfolder for each size.
  const folder = typeof factor === 'number' ? join(data, `factor-${factor}`) : data
  return [...factorArgs(factor), '--data', folder]
}

function factorArgs(factor: BenchRun['factor']): string[] {
  return [factor ?? []].flat().flatMap((each) => ['--factor', String(each)])
}

async function describeMachine(): Promise<BenchResult['machine']> {
  const server = await startEmbeddedPostgres()
  try {
    const { host, port, user, password } = server
    const client = await connectDatabase(
      { host, port, user, password, database: 'postgres' },
      { applicationName: 'bench' },
    )
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    await client.end()
    return {
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      processors: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      node: process.version.slice(1),
      postgres: rows[0]!.server_version.split(' ')[0]!,
    }
  } finally {
    await server.stop()
  }
}
