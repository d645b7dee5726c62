import { WebSocket } from 'ws'
import { describeError, FatalError, RetryableError } from '../errors/index.ts'
import { shownAddress } from './address.ts'
import { readChainInfo } from './chain-node.ts'
import { nodeRefusal } from './failure.ts'

const TIMEOUT_MS = 8_000
/** Maximum size of the first message. The first message of a node is its protocol ABI of about 35 kB. */
const MAX_GREETING_BYTES = 4 * 1024 * 1024

/**
 * Resolves once a state-history node has sent its protocol ABI.
 * @throws RetryableError `CHAIN_NODE_REFUSED`, `SHIP_UNREACHABLE`.
 */
async function checkStateHistory(url: string): Promise<void> {
  const socket = new WebSocket(url, {
    handshakeTimeout: TIMEOUT_MS,
    maxPayload: MAX_GREETING_BYTES,
    perMessageDeflate: false,
  })
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => {
        reject(
          new RetryableError('SHIP_UNREACHABLE', `no state-history node at ${shownAddress(url)}: ${why}`),
        )
      }
      const timer = setTimeout(() => {
        fail(`the server sent nothing for ${TIMEOUT_MS / 1_000} s`)
      }, TIMEOUT_MS)
      socket.once('message', (data, isBinary) => {
        clearTimeout(timer)
        const text = isBinary || !Buffer.isBuffer(data) ? '' : data.toString('utf8')
        if (text.includes('get_status_request')) resolve()
        else fail('the server uses another protocol')
      })
      socket.once('error', (error) => {
        clearTimeout(timer)
        const refusal = nodeRefusal(error, shownAddress(url))
        if (refusal) reject(refusal)
        else fail(wordsOf(error))
      })
      socket.once('close', () => {
        clearTimeout(timer)
        fail('the server closed the connection')
      })
    })
  } finally {
    socket.on('error', () => undefined)
    socket.terminate()
  }
}

/** Translates an error of the websocket library into plain words. */
function wordsOf(error: Error): string {
  const [, status] = /^Unexpected server response: (\d+)$/.exec(error.message) ?? []
  return status === undefined
    ? describeError(error)
    : `the server answers HTTP ${status} and opens no websocket`
}

/** The two addresses of a chain node. */
interface NodeAddresses {
  /** Address of the state-history websocket. */
  readonly ship: string
  readonly http: string
}

/**
 * Checks both addresses of a chain node.
 *
 * @returns the chain id.
 * @throws RetryableError `CHAIN_NODE_REFUSED`, `CHAIN_UNREACHABLE`, `NODE_API_INCOMPLETE` for the HTTP address,
 * `CHAIN_NODE_REFUSED`, `SHIP_UNREACHABLE` for the state-history address; FatalError `ADDRESSES_SWAPPED`.
 */
export async function checkNode(node: NodeAddresses): Promise<string> {
  try {
    const { chainId } = await readChainInfo(node.http)
    await checkStateHistory(node.ship)
    return chainId
  } catch (error) {
    throw (await findSwap(node)) ?? error
  }
}

/**
 * Creates the error for swapped addresses: the HTTP address answers as a state-history node, or the state-history
 * address answers as an HTTP API. Null if neither address does.
 */
async function findSwap({ ship, http }: NodeAddresses): Promise<FatalError | null> {
  const [httpIsShip, shipIsHttp] = await Promise.all([
    succeeds(checkStateHistory(withProtocol(http, 'ws'))),
    ship.startsWith('ws+unix') ? false : succeeds(readChainInfo(withProtocol(ship, 'http'))),
  ])
  const found = [
    ...(httpIsShip ? [`${shownAddress(http)} answers like a state-history socket`] : []),
    ...(shipIsHttp ? [`${shownAddress(ship)} answers like the HTTP API of a chain node`] : []),
  ]
  return found.length === 0 ? null : new FatalError('ADDRESSES_SWAPPED', found.join(', '))
}

function succeeds(task: Promise<unknown>): Promise<boolean> {
  return task.then(
    () => true,
    () => false,
  )
}

/** Replaces the protocol of an address; an encrypted protocol stays encrypted. */
function withProtocol(address: string, protocol: 'ws' | 'http'): string {
  return address.replace(/^(?:ws|http)(s?):/, `${protocol}$1:`)
}
