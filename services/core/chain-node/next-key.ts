import { FatalError, RetryableError } from '../errors/index.ts'

/**
 * Where the next page of a `get_table_rows` answer begins; null after the last page.
 *
 * @param from where this page began.
 * @param readInfo asks the same node for `get_info`.
 * @throws FatalError `CHAIN_NODE_TOO_OLD` when the node has more rows and does not say where they begin, as EOSIO 1.8;
 *   RetryableError `CHAIN_UNREACHABLE` when it says something else than a node.
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
    throw new RetryableError('CHAIN_UNREACHABLE', `${label} does not answer get_table_rows like a chain node`)
  const { server_version_string: version } = await readInfo()
  const shown = typeof version === 'string' ? version.slice(0, 64) : 'of an unknown version'
  const message = `${label} (${shown}) has more rows of a table than one answer holds, and its answers have no next_key to read them by`
  throw new FatalError('CHAIN_NODE_TOO_OLD', message)
}
