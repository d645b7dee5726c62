import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { BlockApplier } from './block-applier.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 16 * 1024 * 1024

/**
 * A reader that begins in the middle of a chain has not seen its contracts' ABIs being set. Before the first block,
 * and never on the way, the chain's HTTP interface is asked for the present ones: newer ABIs of these contracts read
 * older data. Where it does not answer, the reader goes on and ends at the first block that needs one.
 */
export async function fetchMissingAbis(
  applier: BlockApplier,
  http: string | null,
  startBlock: number,
  logger: Logger,
): Promise<void> {
  for (const account of applier.accountsWithoutAbi) {
    if (http === null) continue
    try {
      const response = await fetch(new URL('/v1/chain/get_raw_abi', http), {
        method: 'POST',
        body: JSON.stringify({ account_name: account }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const text = await response.text()
      if (!response.ok || text.length > MAX_BYTES)
        throw new Error(`HTTP ${response.status}, ${text.length} bytes`)
      const { abi } = JSON.parse(text) as { abi?: unknown }
      if (typeof abi !== 'string' || abi === '') continue
      applier.assumeAbi(account, Buffer.from(abi, 'base64'))
      logger.warn(
        { account, startBlock },
        'the reader begins after this contract set its ABI: the present one is used until it sets another',
      )
    } catch (error) {
      logger.warn(
        { account, cause: describeError(error) },
        'the ABI of a contract could not be read from the chain node',
      )
    }
  }
}
