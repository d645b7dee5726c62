import { WebSocket } from 'ws'
import { readChainInfo } from '../core/chain-node/index.ts'
import { RetryableError } from '../core/errors/index.ts'

const TIMEOUT_MS = 8_000
/** The protocol ABI, which a node sends first, has some ten kilobytes. */
const MAX_GREETING_BYTES = 4 * 1024 * 1024

/** Addresses of a chain node. */
export interface NodeAddresses {
  readonly ship: string
  readonly http: string
}

/**
 * Asks a chain node at both of its addresses whether it is one, before anything is started.
 * @returns its chain id.
 * @throws RetryableError `CHAIN_UNREACHABLE` for the HTTP address, `SHIP_UNREACHABLE` for the other.
 */
export async function checkNode({ ship, http }: NodeAddresses): Promise<string> {
  const { chainId } = await readChainInfo(http)
  await checkShip(ship)
  return chainId
}

/** Resolves when a state-history node has sent its protocol ABI. */
async function checkShip(url: string): Promise<void> {
  const socket = new WebSocket(url, {
    handshakeTimeout: TIMEOUT_MS,
    maxPayload: MAX_GREETING_BYTES,
    perMessageDeflate: false,
  })
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => {
        reject(new RetryableError('SHIP_UNREACHABLE', `no state-history node at ${url}: ${why}`))
      }
      const timer = setTimeout(() => {
        fail(`it sent nothing for ${TIMEOUT_MS / 1_000} s`)
      }, TIMEOUT_MS)
      socket.once('message', (data, isBinary) => {
        clearTimeout(timer)
        const text = isBinary || !Buffer.isBuffer(data) ? '' : data.toString('utf8')
        if (text.includes('get_status_request')) resolve()
        else fail('it uses another protocol')
      })
      socket.once('error', (error) => {
        clearTimeout(timer)
        fail(error.message)
      })
      socket.once('close', () => {
        clearTimeout(timer)
        fail('it closed the connection')
      })
    })
  } finally {
    socket.on('error', () => undefined)
    socket.terminate()
  }
}
