/** Output of the benchmarks: percentiles, Markdown tables, and figures as a JSON file. */
import { writeFile } from 'node:fs/promises'

/** Percentile: the value that a share of the numbers does not exceed; NaN if there are none. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? NaN
}

export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5)
}

export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Prints a Markdown table row by row, while a benchmark runs. */
export class PrintedTable {
  constructor(head: readonly string[]) {
    console.log(markdownTable(head, []))
  }

  row(cells: readonly (string | number)[]): void {
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/** Writes figures to the file of `--json`; does nothing without a file. */
export async function storeFigures(file: string | undefined, figures: unknown): Promise<void> {
  if (file !== undefined) await writeFile(file, `${JSON.stringify(figures, null, 1)}\n`)
}
