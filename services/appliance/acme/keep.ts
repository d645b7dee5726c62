import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { ensureIssued } from './issue.ts'
import type { AcmeSettings } from './issue.ts'

const CHECK_MS = 12 * 3_600_000
const FIRST_RETRY_MS = 60_000
/** Authorities count failures; hours between tries are polite. */
const LONGEST_RETRY_MS = 4 * 3_600_000

/** Looks at the certificate twice a day until it is stopped; a failure is logged and retried after growing pauses. */
export async function keepCertificate(
  settings: AcmeSettings,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let retryMs = FIRST_RETRY_MS
  const isStopped = (): boolean => signal.aborted
  while (!isStopped()) {
    let waitMs = CHECK_MS
    try {
      if (await ensureIssued(settings, signal)) logger.info({ domain: settings.domain }, 'certificate issued')
      retryMs = FIRST_RETRY_MS
    } catch (error) {
      if (isStopped()) return
      logger.error(
        { domain: settings.domain, retrySeconds: retryMs / 1_000 },
        `no certificate: ${describeError(error)}`,
      )
      waitMs = retryMs
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
    }
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}
