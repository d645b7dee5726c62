import { FatalError } from '../core/errors/index.ts'

const TIMEOUT_MS = 10_000
const MAX_CHARACTERS = 1024 * 1024

/**
 * Asks a node for the id of its chain.
 *
 * @throws FatalError `CHAIN_UNREACHABLE` when the node does not answer like one.
 */
export async function readChainId(http: string): Promise<string> {
  try {
    const response = await fetch(new URL('/v1/chain/get_info', http), {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    if (!response.ok || text.length > MAX_CHARACTERS) throw new Error(`HTTP ${response.status}`)
    const { chain_id: chainId } = JSON.parse(text) as { chain_id?: unknown }
    if (typeof chainId !== 'string' || !/^[0-9a-f]{64}$/.test(chainId))
      throw new Error('the answer has no chain_id')
    return chainId
  } catch (cause) {
    throw new FatalError(
      'CHAIN_UNREACHABLE',
      `the chain's HTTP interface at ${http} does not answer get_info`,
      { cause },
    )
  }
}
