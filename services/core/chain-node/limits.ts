import { bytesText, secondsText } from '../limits/index.ts'
import type { Limit } from '../limits/index.ts'

/** Timeout of a request that a service waits for, ms. */
export const TIMEOUT_MS = 5_000
/** Timeout of a background request, ms. */
export const BACKGROUND_TIMEOUT_MS = 30_000

/** Maximum response sizes of single requests, in bytes. */
export const answerBytes = {
  info: 64 * 1024,
  abi: 16 * 1024 * 1024,
  block: 64 * 1024 * 1024,
  table: 64 * 1024 * 1024,
}
/** Maximum response size of a background request, in bytes. */
export const BACKGROUND_BYTES = 128 * 1024 * 1024

const ofRequest = { per: 'request', beyond: '`CHAIN_UNREACHABLE`; the request is sent again' }

/** Limits of responses from a node's HTTP API, for the documentation. */
export const chainNodeLimits: readonly Limit[] = [
  {
    counts: 'HTTP: time of an answer',
    ...ofRequest,
    value: `${secondsText(TIMEOUT_MS)}; in the background ${secondsText(BACKGROUND_TIMEOUT_MS)}`,
  },
  { counts: 'HTTP: bytes of an answer to get_info', ...ofRequest, value: bytesText(answerBytes.info) },
  { counts: 'HTTP: bytes of an answer with an ABI', ...ofRequest, value: bytesText(answerBytes.abi) },
  { counts: 'HTTP: bytes of an answer with a block', ...ofRequest, value: bytesText(answerBytes.block) },
  {
    counts: 'HTTP: bytes of an answer with table rows',
    ...ofRequest,
    value: `${bytesText(answerBytes.table)}; in the background ${bytesText(BACKGROUND_BYTES)}`,
  },
]
