import { readBlock, readChainInfo, shownAddress } from '../../../core/chain-node/index.ts'
import type { NodeBlock } from '../../../core/chain-node/index.ts'
import { FatalError, RetryableError } from '../../../core/errors/index.ts'
import type { OldSource } from './old-source.ts'

/**
 * Reads number, id and time of the import block from the chain node, because the source database stores no ids of
 * irreversible blocks.
 *
 * @throws FatalError `CHAIN_MISMATCH` if node and source are on different chains.
 */
export async function findBlock(
  source: OldSource,
  chain: { readonly chainId: string; readonly http: string },
): Promise<NodeBlock> {
  const shown = shownAddress(chain.http)
  const info = await readChainInfo(chain.http)
  if (info.chainId !== chain.chainId)
    throw new FatalError(
      'CHAIN_MISMATCH',
      `the chain node ${shown} serves chain ${info.chainId}, but the configuration names chain ${chain.chainId}`,
      { details: { held: `chain ${chain.chainId}` } },
    )
  const { block, newest, newestTimeMs, reversible } = source.position
  if (info.irreversibleBlock < block)
    throw new RetryableError(
      'CHAIN_UNREACHABLE',
      `the last irreversible block of the chain node ${shown} is ${info.irreversibleBlock}, but the source is imported at the later block ${block}`,
    )
  const found = await readBlock(chain.http, block)
  const next = reversible[0]
  const following = next === undefined ? null : await readBlock(chain.http, next.num).catch(() => null)
  const mismatch = new FatalError(
    'CHAIN_MISMATCH',
    `the source and the chain node ${shown} are on different chains: they differ at block ${next?.num ?? newest}`,
    { details: { held: 'the chain of the source' } },
  )
  // The first reversible block of the source shows whether node and source are on the same chain. If the node has the
  // same block, `previous` of the block must be the id of the import block. If the node has another block with this
  // number, a fork has removed the block of the source, and the check is skipped.
  if (following?.id === next?.id && following !== null && following.previous !== found.id) throw mismatch
  if (next === undefined && newest === block && found.timeMs !== newestTimeMs) throw mismatch
  return found
}
