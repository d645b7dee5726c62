import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { Backoff, pause } from '../../core/retry/index.ts'
import { ensureIssued } from './issue.ts'
import type { AcmeSettings } from './issue.ts'

const CHECK_MS = 12 * 3_600_000
/** Authorities limit failed orders, so pauses grow up to hours. */
const retryPauses = { firstMs: 60_000, longestMs: 4 * 3_600_000 }

/** Checks the certificate twice a day until `signal` aborts. A failure is logged and retried after growing pauses. */
export async function keepCertificate(
  settings: AcmeSettings,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const pauses = new Backoff(retryPauses)
  const isStopped = (): boolean => signal.aborted
  while (!isStopped()) {
    let waitMs = CHECK_MS
    try {
      if (await ensureIssued(settings, signal)) logger.info({ domain: settings.domain }, 'certificate issued')
      pauses.reset()
    } catch (error) {
      if (isStopped()) return
      waitMs = pauses.nextDelayMs()
      logger.error(
        { domain: settings.domain, retrySeconds: waitMs / 1_000 },
        `no certificate: ${describeError(error)}`,
      )
    }
    await pause(waitMs, signal)
  }
}
