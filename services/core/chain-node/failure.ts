import { isConnectionRefused, RetryableError } from '../errors/index.ts'

/** Error for a response of a chain node with an HTTP error status. */
class NodeStatusError extends Error {
  readonly status: number

  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

/** The account does not exist on the chain: a retry changes nothing. */
export class UnknownToNode extends Error {}

/** Matches the error details with which nodes of all versions report an unknown account. */
const UNKNOWN_ACCOUNT = /unknown key|account_query_exception|unknown_account/i

/** Throws an error for an answer with an error status. @throws UnknownToNode, NodeStatusError */
export function requireSuccess({ ok, status }: Response, text: string): void {
  if (status === 500 && UNKNOWN_ACCOUNT.test(text)) throw new UnknownToNode('no such account')
  if (!ok) throw new NodeStatusError(status)
}

const NOT_FOUND = 404

/**
 * Converts the error of a failed request to a node's HTTP API.
 *
 * @param node address of the node for messages.
 */
export function nodeFailure(cause: unknown, node: string, path: string): RetryableError {
  const details = { node, path }
  const refusal = nodeRefusal(cause, node)
  if (refusal !== null) return refusal
  if (cause instanceof NodeStatusError && cause.status === NOT_FOUND) {
    const message = `the chain node ${node} has no ${path} (HTTP 404)`
    return new RetryableError('NODE_API_INCOMPLETE', message, { details })
  }
  if (cause instanceof UnknownToNode) {
    const message = `the chain node ${node} refuses ${path}: ${cause.message}`
    return new RetryableError('CHAIN_UNREACHABLE', message, { cause, details })
  }
  if (cause instanceof NodeStatusError) {
    const message = `the chain node ${node} answers ${path} with HTTP ${cause.status}`
    return new RetryableError('CHAIN_UNREACHABLE', message, { details })
  }
  const message = `the chain node ${node} does not answer ${path}`
  return new RetryableError('CHAIN_UNREACHABLE', message, { cause, details })
}

/**
 * Converts the error of a refused connection (nothing listens at the address, or a firewall rejects it); null for
 * other causes.
 */
export function nodeRefusal(cause: unknown, node: string): RetryableError | null {
  if (!isConnectionRefused(cause)) return null
  return new RetryableError('CHAIN_NODE_REFUSED', `the chain node ${node} refuses connections`, {
    details: { node },
  })
}
