import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** A stand-in for a chain node: replies with its chain id and sends the protocol ABI, but no blocks. */
export interface NodeStandIn {
  readonly ship: string
  readonly http: string
  close(): void
}

/** Reply of a chain node to `get_info`. */
export function infoOf(chainId: string): string {
  const head = {
    head_block_num: 7,
    head_block_id: 'cd'.repeat(32),
    head_block_time: '2026-11-20T10:00:00.500',
  }
  return JSON.stringify({ chain_id: chainId, ...head })
}

/** Starts a stand-in for a node of the chain. State-history socket and HTTP API each have a port of their own. */
export async function startNodeStandIn(chainId: string): Promise<NodeStandIn> {
  const api = createServer((_, response) => {
    response.end(infoOf(chainId))
  }).listen(0, '127.0.0.1')
  const history = createServer((_, response) => {
    response.writeHead(426).end('Upgrade Required')
  }).listen(0, '127.0.0.1')
  const sockets = new WebSocketServer({ server: history })
  sockets.on('connection', (socket) => {
    socket.send('{"get_status_request":{}}')
  })
  await Promise.all([api, history].map((server) => once(server, 'listening')))
  const portOf = (server: typeof api): number => (server.address() as AddressInfo).port
  return {
    ship: `ws://127.0.0.1:${portOf(history)}`,
    http: `http://127.0.0.1:${portOf(api)}`,
    close() {
      sockets.close()
      api.close()
      history.close()
    },
  }
}
