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

/** Results of the benchmarks in the order of the page; written by `npm run bench`. */
const RESULTS = 'scripts/bench/results.json'

/** Paragraphs and tables of docs/performance.md, below the note that the page is generated. */
export function renderPerformance(): string[] {
  const results = JSON.parse(readFileSync(join(packageRoot, RESULTS), 'utf8')) as BenchResult[]
  return [
    '# Performance',
    'Results of the last `npm run bench`. ' +
      'Each section names the command that repeats the measurement. ' +
      'The speed of a machine drifts from run to run, so compare ratios: both values of a ratio are from one run. [indexes.md](indexes.md) has the cost of each index.',
    '`npm run bench` takes most of an hour; `npm run bench -- latency` runs one bench, and `--data FOLDER` retains the generated databases. ' +
      '`npm run bench:ratios` is a small run for continuous integration: it compares its ratios with those in `scripts/bench/ratios.json`, and fails if a ratio falls below two thirds of the stored one. ' +
      '`npm run bench:pages` compares the database pages that each kind of request reads on 50,000 generated assets with those in `scripts/bench/pages-reference.json`, and fails if the pages of one kind grow by half.',
    ...results.flatMap(renderRun),
  ]
}

function renderRun(result: BenchResult): string[] {
  const { processor, processors, memoryGb, node, postgres } = result.machine
  return [
    `## ${result.title}`,
    result.about,
    `\`${result.command}\``,
    `${result.day}: ${processors} processors (${processor}), ${memoryGb} GB, Node.js ${node}, PostgreSQL ${postgres}; load average before the run: ${result.loadBefore}; duration of the run: ${result.seconds} s.`,
    ...renderOutput(result.output),
  ]
}

/** Formats the output of a benchmark as Markdown: tables stay tables, other lines become code. */
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
