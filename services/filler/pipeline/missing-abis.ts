import { readRawAbi } from '../../core/chain-node/index.ts'
import { describeError, PronghornError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { Query } from '../handlers/index.ts'
import type { BlockApplier } from './block-applier.ts'

/** Places where the ABI of a contract is searched: the database and the HTTP interface of the chain. */
interface AbiSearch {
  readonly query: Query
  /** Address of the chain's HTTP interface; null if none is configured. */
  readonly http: string | null
  readonly logger: Logger
}

/**
 * Gives contracts without an ABI at block `block` a newer ABI. ABIs are missing when a reader starts in the middle of a
 * chain, or when a rollback has undone the only ABI. Takes the first ABI stored for a later block, else the current ABI
 * from the chain's HTTP interface: newer ABIs of these contracts can read older data. If the chain node does not
 * answer, the reader continues and stops at the first block that needs an ABI.
 */
export async function assumeMissingAbis(
  applier: BlockApplier,
  block: number,
  { query, http, logger }: AbiSearch,
): Promise<void> {
  for (const account of applier.accountsWithoutAbi) {
    const abi = (await readLaterAbi(query, account, block)) ?? (await readPresentAbi(http, account, logger))
    if (typeof abi === 'string') {
      applier.noteMissingAbi(account, `${abi} and no block since ${block + 1} sets it`)
      continue
    }
    applier.assumeAbi(account, abi)
    logger.warn(
      { account, block },
      'the ABI of a contract at this block is unknown: the reader uses a newer ABI until a block sets another ABI',
    )
  }
}

async function readLaterAbi(query: Query, account: string, block: number): Promise<Uint8Array | null> {
  const rows = await query<{ abi: Buffer }>(
    "SELECT abi FROM chain.abis WHERE account = $1 AND block_num > $2 AND abi <> '' ORDER BY block_num LIMIT 1",
    [account, block],
  )
  return rows[0]?.abi ?? null
}

/** Returns the current ABI of the account, or a clause for an error message with the reason why the ABI is unknown. */
async function readPresentAbi(
  http: string | null,
  account: string,
  logger: Logger,
): Promise<Uint8Array | string> {
  const missing = `the ABI of ${account}`
  if (http === null) return `${missing} was not requested, because the node has no HTTP address,`
  try {
    return (await readRawAbi(http, account)) ?? `the account ${account} has no ABI at present`
  } catch (error) {
    const cause = describeError(error)
    logger.warn({ account, cause }, 'the ABI of a contract could not be read from the chain node')
    const answer = isMissingEndpoint(error) ? 'HTTP 404 from /v1/chain/get_raw_abi' : cause
    return `the node did not return ${missing} (${answer})`
  }
}

function isMissingEndpoint(error: unknown): boolean {
  return error instanceof PronghornError && error.code === 'NODE_API_INCOMPLETE'
}
