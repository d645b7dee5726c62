import { readRawAbi } from '../../core/chain-node/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { BlockApplier } from './block-applier.ts'

/**
 * A reader that starts in the middle of a chain has not seen its contracts' ABIs being set. The current ones of contracts
 * without any are requested from the chain's HTTP interface, at the start and when a rollback has undone the only one:
 * newer ABIs of these contracts read older data. If it does not answer, the reader continues and stops at the first block
 * that needs one.
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
      const abi = await readRawAbi(http, account)
      if (abi === null) continue
      applier.assumeAbi(account, abi)
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
