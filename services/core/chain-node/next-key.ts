import { FatalError, RetryableError } from '../errors/index.ts'

/**
 * Lower bound of the next page of a `get_table_rows` response; null after the last page.
 *
 * @param from lower bound of this page.
 * @param readInfo reads `get_info` from the same node.
 * @throws FatalError `CHAIN_NODE_TOO_OLD` if the node has more rows but does not return the next key (EOSIO 1.8);
 * RetryableError `CHAIN_UNREACHABLE` for a malformed response.
 */
export async function nextKeyOf(
  answer: Readonly<Record<string, unknown>>,
  from: string,
  label: string,
  readInfo: () => Promise<Readonly<Record<string, unknown>>>,
): Promise<string | null> {
  const { more, next_key: next } = answer
  if (more !== true && more !== 1) return null
  if (typeof next === 'string' && next !== '' && next !== from) return next
  if (next !== undefined)
    throw new RetryableError('CHAIN_UNREACHABLE', `${label} sent an unexpected reply to get_table_rows`)
  const { server_version_string: version } = await readInfo()
  const shown = typeof version === 'string' ? version.slice(0, 64) : 'of an unknown version'
  const message = `${label} (${shown}) has more rows of a table than fit into one answer, but the answer has no next_key to request the remaining rows`
  throw new FatalError('CHAIN_NODE_TOO_OLD', message)
}
