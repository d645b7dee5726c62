/** The page of what was measured: `docs/performance.md`, from what `npm run bench` stores. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../services/core/paths/index.ts'
import { benchRuns, resultFile } from './bench/runs.ts'
import type { BenchResult, BenchRun } from './bench/runs.ts'

/** Blocks of Markdown, after the note that the page is generated. */
export function renderPerformance(): string[] {
  return [
    '# Performance',
    'What `npm run bench` measured last. Each section has the command that repeats it; figures of a machine drift, so ' +
      'compare the ratios, which are of two measurements of one run. What each index costs is in [indexes.md](indexes.md).',
    '`npm run bench` takes most of an hour; `npm run bench -- latency` runs one bench, and `--data FOLDER` retains ' +
      'the generated databases. `npm run bench:ratios` is a small run for continuous integration: it compares the ratios ' +
      'with the stored ones in `scripts/bench/ratios.json`, and fails when a third of one is lost.',
    ...benchRuns.flatMap(renderRun),
  ]
}

function renderRun(bench: BenchRun): string[] {
  const file = join(packageRoot, resultFile(bench.name))
  const command = ['npm run build && node', `dist/scripts/bench/${bench.program}.js`, ...bench.args]
  if (bench.factor !== undefined) command.push('--factor', String(bench.factor))
  const heading = [`## ${bench.title}`, bench.about, `\`${command.join(' ')}\``]
  if (!existsSync(file)) return [...heading, 'Not measured yet.']
  const result = JSON.parse(readFileSync(file, 'utf8')) as BenchResult
  const { processor, processors, memoryGb, node, postgres } = result.machine
  return [
    ...heading,
    `${result.day}: ${processors} processors (${processor}), ${memoryGb} GB, Node.js ${node}, PostgreSQL ${postgres}; ` +
      `load before the run ${result.loadBefore}; ${result.seconds} s.`,
    ...renderOutput(result.output),
  ]
}

/** Tables as they are, other lines as text of the program. */
function renderOutput(output: string): string[] {
  const blocks: { isTable: boolean; lines: string[] }[] = []
  for (const line of output.split('\n')) {
    const isTable = line.startsWith('|')
    const last = blocks.at(-1)
    if (last?.isTable === isTable) last.lines.push(line)
    else blocks.push({ isTable, lines: [line] })
  }
  return blocks
    .map(({ isTable, lines }) => ({ isTable, text: lines.join('\n').trim() }))
    .filter(({ text }) => text !== '')
    .map(({ isTable, text }) => (isTable ? text : `\`\`\`text\n${text}\n\`\`\``))
}
