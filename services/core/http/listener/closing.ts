import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Pipelined responses that wait for earlier responses on their connection. */
const queues = new WeakMap<Socket, Set<ServerResponse>>()

/**
 * Calls `task` once, when the response has been sent or its connection is closed. Node emits 'close' only on the
 * response that is being sent; this function also closes the pipelined responses that wait behind that response.
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
