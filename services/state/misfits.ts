import type { Logger } from '../core/log/index.ts'
import type { Metrics } from '../core/metrics/index.ts'

/** A stored row that fits no ABI of its contract. */
export interface Misfit {
  readonly contract: string
  readonly table: string
  readonly error: string
}

/** Creates a function that counts stored rows that fit no ABI, and that logs the first of them for each contract. */
export function createMisfitLog(logger: Logger, metrics: Metrics): (misfit: Misfit) => void {
  const logged = new Set<string>()
  return ({ contract, table, error }) => {
    metrics.count('pronghorn_state_undecodable_rows_total', { contract })
    if (logged.has(contract)) return
    logged.add(contract)
    logger.warn(
      { contract, table, cause: error },
      'a stored row fits no ABI of its contract: the row is returned in hexadecimal; further such rows of the contract are counted, but not logged',
    )
  }
}
