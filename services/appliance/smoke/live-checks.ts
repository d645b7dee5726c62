import { WebSocket } from 'ws'
import type { Check } from './check.ts'
import { expectThat, NotApplicable } from './check.ts'
import type { Ask } from './client.ts'

/** A socket says hello; where blocks come, an event follows. GraphQL answers where it runs. */
export function liveChecks(base: URL, ask: Ask, insecure: boolean, waitMs: number): Check[] {
  return [
    {
      name: 'socket event',
      run: () => firstMessage(new URL('/atomicassets/v1/live', base), insecure, waitMs),
    },
    {
      name: 'socket.io handshake',
      run: async () => {
        const { status, text } = await ask('/socket.io/?EIO=4&transport=polling')
        expectThat(status === 200 && text.startsWith('0{'), `status ${status}: ${text.slice(0, 100)}`)
        return text.slice(1, 40)
      },
    },
    {
      name: 'graphql',
      run: async () => {
        const answer = await ask('/v1/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"query":"{ __typename }"}',
        })
        if (answer.status === 503 || answer.status === 404) throw new NotApplicable('not running')
        expectThat(answer.status === 200 && answer.text.includes('query_root'), `status ${answer.status}`)
        return 'answers'
      },
    },
  ]
}

function firstMessage(address: URL, insecure: boolean, waitMs: number): Promise<string> {
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, { rejectUnauthorized: !insecure, handshakeTimeout: waitMs })
    const timer = setTimeout(() => end(new Error(`no event within ${waitMs / 1_000} seconds`)), waitMs)
    const end = (result: Error | string): void => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.terminate()
      if (typeof result === 'string') resolve(result)
      else reject(result)
    }
    socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', id: 'smoke' })))
    socket.on('message', (data: Buffer) => {
      const { type, event } = JSON.parse(data.toString('utf8')) as { type?: string; event?: string }
      if (type === 'event') end(`event ${event ?? ''}`)
      else if (type === 'error') end(new Error(data.toString('utf8').slice(0, 200)))
    })
    socket.on('unexpected-response', (_request, response) =>
      end(new Error(`status ${response.statusCode ?? 0}`)),
    )
    socket.on('error', end)
    socket.on('close', (code) => end(new Error(`closed with ${code}`)))
  })
}
