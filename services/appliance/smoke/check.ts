export interface CheckResult {
  readonly name: string
  readonly outcome: 'ok' | 'failed' | 'skipped'
  /** Result that the check observed, or the reason of its failure. */
  readonly note: string
}

/** One line of the smoke test. `run` returns its observation, and throws on a failure. */
export interface Check {
  readonly name: string
  readonly run: () => Promise<string>
}

/** Thrown by a check that does not apply to this server. */
export class NotApplicable extends Error {}

/** Runs checks in sequence and reports each result at once. */
export async function runChecks(
  checks: readonly Check[],
  report: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const { name, run } of checks) {
    const result = await run().then(
      (note): CheckResult => ({ name, outcome: 'ok', note }),
      (error: unknown): CheckResult => ({
        name,
        outcome: error instanceof NotApplicable ? 'skipped' : 'failed',
        note: error instanceof Error ? error.message : String(error),
      }),
    )
    report(result)
    results.push(result)
  }
  return results
}

export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise)
}
