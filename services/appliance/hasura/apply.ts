import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { retry } from '../../core/retry/index.ts'
import { readHasuraSettings } from '../render/index.ts'
import { assembleMetadata } from './files.ts'

export interface ApplyOptions {
  /** URL of Hasura. */
  readonly url: string
  /** Output folder of `render-config`, which contains Hasura's admin secret and the row limit of lists. */
  readonly rendered: string
  /** How long Hasura may take to come up. */
  readonly waitMs: number
}

const TIMEOUT_MS = 60_000
const RETRY_MS = 1_000

/**
 * Sends Hasura the metadata of this version. Hasura refuses inconsistent metadata. @throws RetryableError
 * `HASURA_UNAVAILABLE`; FatalError `HASURA_REFUSED` with Hasura's message.
 */
export async function applyMetadata(options: ApplyOptions): Promise<void> {
  const { adminSecret, rowLimit } = await readHasuraSettings(options.rendered)
  const metadata = await assembleMetadata(rowLimit)
  const body = JSON.stringify({
    type: 'replace_metadata',
    version: 2,
    args: { allow_inconsistent_metadata: false, metadata },
  })
  await retry(() => putMetadata({ url: options.url, adminSecret, body }), {
    firstMs: RETRY_MS,
    withinMs: options.waitMs,
    mayPass: (error) => error instanceof RetryableError,
  })
}

async function putMetadata(request: {
  readonly url: string
  readonly adminSecret: string
  readonly body: string
}): Promise<void> {
  const { url, adminSecret, body } = request
  const answer = await fetch(new URL('/v1/metadata', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hasura-admin-secret': adminSecret },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => null)
  if (answer?.ok) return
  if (answer === null || answer.status >= 500)
    throw new RetryableError('HASURA_UNAVAILABLE', `Hasura cannot be reached at ${url}`)
  const reason = (await answer.text()).slice(0, 2_000)
  throw new FatalError('HASURA_REFUSED', `Hasura answers ${answer.status}: ${reason}`)
}
