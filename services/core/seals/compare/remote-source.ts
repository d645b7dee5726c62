import { shownAddress } from '../../chain-node/index.ts'
import { FatalError, RetryableError } from '../../errors/index.ts'
import { readLimitedText } from '../../http/client/index.ts'
import type { SealSource } from './compare-seals.ts'
import { MOST_SEALS } from '../published/index.ts'
import type { PublishedSeal, RangePart, RangeParts, SealSummary } from '../published/index.ts'

const TIMEOUT_MS = 60_000
const MOST_BYTES = 64 * 2 ** 20

/**
 * Reads seals and rows from the HTTP API of another installation.
 *
 * @param chainId chain id of this database. An installation for another chain is refused.
 */
export function remoteSource(address: string, chainId: string, signal: AbortSignal): SealSource {
  const read = async <T>(
    path: string,
    parameters: Partial<RangePart & { readonly kind: string }> = {},
  ): Promise<T> => {
    const query = new URLSearchParams(
      Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const url = new URL(`${address.replace(/\/+$/, '')}${path}?${query.toString()}`)
    try {
      const response = await fetch(url, {
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      const text = await readLimitedText(response, MOST_BYTES)
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      return (JSON.parse(text) as { readonly data: T }).data
    } catch (cause) {
      const { kind, from = 0, to = 0 } = parameters
      const of = kind === undefined ? '' : ` of ${kind}, blocks ${from} to ${to}`
      const message = `${shownAddress(url.href)} did not answer with seals${of}`
      throw new RetryableError('VERIFY_UNFINISHED', message, { cause })
    }
  }
  return {
    summary: async () => {
      const summary = await read<SealSummary & { readonly chain_id: string }>('/seals')
      if (summary.chain_id !== chainId)
        throw new FatalError(
          'USAGE',
          `${address} has seals of chain ${summary.chain_id}, but this database belongs to chain ${chainId}`,
        )
      return summary
    },
    seals: async (kind, size, from, to) => {
      const all: PublishedSeal[] = []
      const window = size * MOST_SEALS
      for (let first = from; first <= to; first += window) {
        const last = Math.min(first + window - 1, to)
        all.push(...(await read<readonly PublishedSeal[]>('/seals/ranges', { kind, from: first, to: last })))
      }
      return all
    },
    parts: (kind, { range, from, to, offset }) =>
      read<RangeParts>('/seals/rows', { kind, range, from, to, offset }),
  }
}
