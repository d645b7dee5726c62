import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Responses that wait for earlier ones on their connection. */
const queues = new WeakMap<Socket, Set<ServerResponse>>()

/**
 * Calls back once, when a response has been sent or its connection is closed. Node closes only the response whose turn it
 * is: those that wait behind it are closed here.
 */
export function onceClosed(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  task: () => void,
): void {
  res.once('close', task)
  if (res.socket) return
  const queue = queueOf(req.socket)
  if (queue.has(res)) return
  queue.add(res)
  res.once('close', () => queue.delete(res))
}

function queueOf(socket: Socket): Set<ServerResponse> {
  const known = queues.get(socket)
  if (known) return known
  const queue = new Set<ServerResponse>()
  queues.set(socket, queue)
  socket.once('close', () => {
    for (const response of queue) {
      if (response.socket) continue
      response.destroy()
      response.emit('close')
    }
  })
  return queue
}
