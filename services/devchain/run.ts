import { once } from 'node:events'
import type { Logger } from '../core/log/index.ts'
import { createDevchain } from './devchain.ts'
import type { DevchainOptions } from './options.ts'

/** What `pronghorn devchain` takes. */
export interface DevchainCommand extends DevchainOptions {
  readonly logger: Logger
  /** Ends the run. */
  readonly signal: AbortSignal
}

/** Ports of the command when none are given; those of a node by default are 8080 and 8888. */
const devchainPorts = { ship: 8080, http: 8888 } as const

/**
 * Serves a live devchain until the signal comes: the bundled recordings, then `blocks` generated ones, then
 * one every half second.
 * @throws FatalError PORT_UNAVAILABLE, RECORDING_INVALID
 */
export async function runDevchain(command: DevchainCommand): Promise<void> {
  const { logger, signal, ...options } = command
  const { ship: port, http: httpPort } = devchainPorts
  const devchain = createDevchain({ port, httpPort, live: {}, ...options })
  const { shipUrl, httpUrl } = await devchain.start()
  logger.info({ shipUrl, httpUrl, head: devchain.head().num, chainId: devchain.chainId }, 'devchain is up')
  try {
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await devchain.stop()
    logger.info({ head: devchain.head().num }, 'devchain stopped')
  }
}
