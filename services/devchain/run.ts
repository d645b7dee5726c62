import { once } from 'node:events'
import type { Logger } from '../core/log/index.ts'
import { createDevchain } from './devchain.ts'
import type { DevchainOptions } from './options.ts'

/** Options of the command `pronghorn devchain`. */
export interface DevchainCommand extends DevchainOptions {
  readonly logger: Logger
  /** Stops the demo chain when aborted. */
  readonly signal: AbortSignal
}

/** Default ports of the command `pronghorn devchain`: 8080 and 8888, which are also the defaults of a node. */
const devchainPorts = { ship: 8080, http: 8888 } as const

/**
 * Serves a live devchain until the signal aborts: the bundled recordings, then `blocks` generated blocks, then one
 * block every half second.
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
