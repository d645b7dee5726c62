/** Outcomes of the attacks on one entry point, such as the REST API or the websocket. */
export class Tally {
  readonly entry: string
  /** Number of requests, packets or frames sent in the attack. */
  sent = 0
  elapsedS = 0
  /** Number of occurrences of each outcome, such as a status, a close code or a refusal. */
  readonly outcomes = new Map<string, number>()
  /** The first ten unacceptable outcomes, each with its request. */
  readonly problems: string[] = []
  problemCount = 0

  constructor(entry: string) {
    this.entry = entry
  }

  note(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
  }

  blame(what: string): void {
    this.problemCount++
    if (this.problems.length < 10) this.problems.push(what.slice(0, 700))
  }

  /** Formats the outcomes as a row of the Markdown table in the report. */
  row(): string {
    const outcomes = [...this.outcomes]
      .sort((one, other) => other[1] - one[1])
      .slice(0, 12)
      .map(([outcome, count]) => `${outcome}: ${count}`)
    return `| ${this.entry} | ${this.sent} | ${this.elapsedS.toFixed(0)} | ${outcomes.join(', ')} | ${this.problemCount} |`
  }
}

/** Whether an attack may cause this status: any status below 500, or 503. */
export function isHonest(status: number): boolean {
  return status < 500 || status === 503
}

/** Runs `work` for the numbers 0 to `count - 1` with limited concurrency, until `signal` aborts. */
export async function runMany(
  count: number,
  atOnce: number,
  work: (number: number) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count && signal?.aborted !== true) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, () => lane()))
}
