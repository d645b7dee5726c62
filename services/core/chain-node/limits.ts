import { bytesText, secondsText } from '../limits/index.ts'
import type { Limit } from '../limits/index.ts'

/** Time of an answer: of one that a service waits for, and of one that is asked for in the background, ms. */
export const TIMEOUT_MS = 5_000
export const BACKGROUND_TIMEOUT_MS = 30_000

/** Largest answers to single requests. */
export const answerBytes = {
  info: 64 * 1024,
  abi: 16 * 1024 * 1024,
  block: 64 * 1024 * 1024,
  table: 64 * 1024 * 1024,
}
/** Largest answer to a request of the background. */
export const BACKGROUND_BYTES = 128 * 1024 * 1024

const ofRequest = { per: 'request', beyond: '`CHAIN_UNREACHABLE`; the node is asked again' }

/** Limits of what a node answers over HTTP. */
export const chainNodeLimits: readonly Limit[] = [
  {
    counts: 'HTTP: time of an answer',
    ...ofRequest,
    value: `${secondsText(TIMEOUT_MS)}; in the background ${secondsText(BACKGROUND_TIMEOUT_MS)}`,
  },
  { counts: 'HTTP: bytes of the chain information', ...ofRequest, value: bytesText(answerBytes.info) },
  { counts: 'HTTP: bytes of an ABI', ...ofRequest, value: bytesText(answerBytes.abi) },
  { counts: 'HTTP: bytes of a block', ...ofRequest, value: bytesText(answerBytes.block) },
  {
    counts: 'HTTP: bytes of a page of a table',
    ...ofRequest,
    value: `${bytesText(answerBytes.table)}; in the background ${bytesText(BACKGROUND_BYTES)}`,
  },
]
