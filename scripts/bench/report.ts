/** How every bench reports: percentiles, tables of Markdown on its output, figures as JSON in a file. */
import { writeFile } from 'node:fs/promises'

/** The value that a share of the numbers does not exceed; NaN of none. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? NaN
}

/** The value that half of the numbers do not exceed. */
export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5)
}

/** A table of Markdown. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Prints a table row by row, as a bench measures them. */
export class PrintedTable {
  constructor(head: readonly string[]) {
    console.log(markdownTable(head, []))
  }

  row(cells: readonly (string | number)[]): void {
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/** Stores figures in the file of `--json`; without one it does nothing. */
export async function storeFigures(file: string | undefined, figures: unknown): Promise<void> {
  if (file !== undefined) await writeFile(file, `${JSON.stringify(figures, null, 1)}\n`)
}
