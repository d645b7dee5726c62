/** The page `docs/performance.md`, generated from the results of `npm run bench`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../services/core/paths/index.ts'

/** Stored result of a benchmark's last run. */
interface BenchResult {
  readonly title: string
  readonly about: string
  readonly command: string
  readonly day: string
  readonly machine: Readonly<Record<'processor' | 'node' | 'postgres', string>> &
    Readonly<Record<'processors' | 'memoryGb', number>>
  readonly loadBefore: number
  readonly seconds: number
  readonly output: string
}

/** Written by `npm run bench`, in the order of the page. */
const RESULTS = 'scripts/bench/results.json'

/** Markdown blocks of the page, below the note that it is generated. */
export function renderPerformance(): string[] {
  const results = JSON.parse(readFileSync(join(packageRoot, RESULTS), 'utf8')) as BenchResult[]
  return [
    '# Performance',
    'What `npm run bench` measured last. Each section has the command that repeats it; figures of a machine drift, so ' +
      'compare the ratios, which are of two measurements of one run. What each index costs is in [indexes.md](indexes.md).',
    '`npm run bench` takes most of an hour; `npm run bench -- latency` runs one bench, and `--data FOLDER` retains ' +
      'the generated databases. `npm run bench:ratios` is a small run for continuous integration: it compares the ratios ' +
      'with the stored ones in `scripts/bench/ratios.json`, and fails when a third of one is lost.',
    ...results.flatMap(renderRun),
  ]
}

function renderRun(result: BenchResult): string[] {
  const { processor, processors, memoryGb, node, postgres } = result.machine
  return [
    `## ${result.title}`,
    result.about,
    `\`${result.command}\``,
    `${result.day}: ${processors} processors (${processor}), ${memoryGb} GB, Node.js ${node}, PostgreSQL ${postgres}; ` +
      `load before the run ${result.loadBefore}; ${result.seconds} s.`,
    ...renderOutput(result.output),
  ]
}

/** Keeps tables as Markdown and formats other output lines as code. */
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
