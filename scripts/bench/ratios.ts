/**
 * Compares the ratios of a small run of the benchmarks with the ratios in `scripts/bench/ratios.json`.
 * Usage: node dist/scripts/bench/ratios.js [--write]
 *
 * Each ratio compares two measurements of the same run, so it is valid on any machine; greater is better. Exits with 1
 * if a ratio is below two thirds of the stored one three times in a row (other work may disturb a single small run).
 * `--write` instead stores the lowest ratios of three runs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageRoot } from '../../services/core/paths/index.ts'
import { median, PrintedTable } from './report.ts'

type Ratios = Readonly<Record<string, number>>

const { values: options } = parseArgs({ options: { write: { type: 'boolean', default: false } } })

/** A ratio below this share of the stored ratio is a regression. */
const LEAST_SHARE = 2 / 3
const RUNS = 3
const STORED = join(packageRoot, 'scripts/bench/ratios.json')

/** Command line of a benchmark, and how its ratios are read from its output. */
interface SmallRun {
  readonly args: readonly string[]
  readonly read: (written: unknown) => Ratios
}

const smallRuns: readonly SmallRun[] = [
  {
    args: ['filler', 'foreign', 'empty', 'dense', 'market', '--share', '0.2'],
    read: (written) => written as Ratios,
  },
  {
    args: ['rates', '--factor', '0.05', '--rounds', '3', '--seconds', '0.5', '--no-write'],
    read: (written) => {
      const { quiet } = written as { quiet: Readonly<Record<string, readonly { workRatio: number }[]>> }
      return Object.fromEntries(
        Object.entries(quiet).map(([route, rounds]) => [
          `${route}: plain server / api, processor time`,
          median(rounds.map(({ workRatio }) => workRatio)),
        ]),
      )
    },
  },
]

async function measure(): Promise<Ratios> {
  const folder = await mkdtemp(join(tmpdir(), 'pronghorn-ratios-'))
  try {
    const all: Record<string, number> = {}
    for (const { args, read } of smallRuns) {
      const [name, ...rest] = args
      const file = join(folder, `${name!}.json`)
      const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
      const program = join(import.meta.dirname, `${name!}.${extension}`)
      const bench = spawn(process.execPath, [program, ...rest, '--json', file], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const [code] = (await once(bench, 'exit')) as [number | null]
      if (code !== 0) throw new Error(`bench ${name!} exited with ${String(code)}`)
      Object.assign(all, read(JSON.parse(await readFile(file, 'utf8'))))
    }
    return all
  } finally {
    await rm(folder, { recursive: true })
  }
}

const rounded = (ratio: number): number => Number(ratio.toPrecision(3))

if (options.write) {
  const least: Record<string, number> = {}
  for (let run = 1; run <= RUNS; run++) {
    for (const [name, ratio] of Object.entries(await measure()))
      least[name] = Math.min(least[name] ?? Infinity, rounded(ratio))
  }
  await writeFile(STORED, `${JSON.stringify(least, null, 2)}\n`)
} else {
  const stored = JSON.parse(await readFile(STORED, 'utf8')) as Ratios
  const best: Record<string, number> = {}
  let lost: readonly string[] = []
  for (let run = 1; run <= RUNS; run++) {
    for (const [name, ratio] of Object.entries(await measure())) best[name] = Math.max(best[name] ?? 0, ratio)
    lost = Object.entries(stored)
      .filter(([name, ratio]) => !((best[name] ?? 0) >= LEAST_SHARE * ratio))
      .map(([name]) => name)
    if (lost.length === 0) break
  }
  const table = new PrintedTable(['Ratio', 'Measured', 'Stored', ''])
  for (const [name, ratio] of Object.entries(best))
    table.row([name, rounded(ratio), stored[name] ?? '', lost.includes(name) ? 'LOST' : ''])
  if (lost.length > 0) {
    console.error(`these ratios fell by more than a third: ${lost.join('; ')}`)
    process.exitCode = 1
  }
}
