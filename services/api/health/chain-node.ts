import { RetryableError } from '../../core/errors/index.ts'
import type { NodeState } from './state.ts'

const TIMEOUT_MS = 3_000
const MAX_BYTES = 64 * 1024

/**
 * Asks a chain node for its head.
 * @throws RetryableError `SHIP_PROTOCOL` when it answers something else; the errors of `fetch` when it does not answer.
 */
export async function askChainNode(url: string): Promise<NodeState> {
  const response = await fetch(new URL('/v1/chain/get_info', url), {
    method: 'POST',
    body: '{}',
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const info = JSON.parse(await readLimited(response)) as Record<string, unknown> | null
  const { chain_id: chainId, head_block_num: headBlock, head_block_time: headTime } = info ?? {}
  const headTimeMs = typeof headTime === 'string' ? Date.parse(`${headTime.replace(/Z$/, '')}Z`) : NaN
  if (typeof chainId !== 'string' || typeof headBlock !== 'number' || Number.isNaN(headTimeMs)) {
    throw new RetryableError('SHIP_PROTOCOL', `${url} does not answer get_info like a chain node`)
  }
  return { chainId, headBlock, headTimeMs }
}

async function readLimited(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  if (!response.body) return ''
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new RetryableError('SHIP_PROTOCOL', 'the answer of get_info is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
