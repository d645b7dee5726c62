import { WebSocket } from 'ws'
import { dataOf, health, isAtStop, pathsOf } from './api-checks.ts'
import type { Check } from './check.ts'
import { expectThat, NotApplicable } from './check.ts'
import type { Ask } from './client.ts'

/** Checks that a socket connects and gets an event if blocks arrive, and that GraphQL answers if it is on. */
export function liveChecks(base: URL, ask: Ask, insecure: boolean, waitMs: number): Check[] {
  return [
    {
      name: 'socket event',
      run: async () => {
        const path = (await pathsOf(ask)).find((each) => each.endsWith('/v1/assets'))
        if (path === undefined) throw new NotApplicable('no namespace lists assets')
        const live = new URL(path.replace(/assets$/, 'live'), base)
        const found = await firstMessage(live, insecure, waitMs)
        if (found !== undefined) return found
        // A quiet chain has blocks, but no events.
        const { chain } = health.parse(dataOf(await ask('/health')))
        const { status, reasons, readers } = chain.service
        expectThat(
          status === 'healthy',
          `no event within ${waitMs / 1_000} seconds: ${status} ${reasons.join(', ')}`,
        )
        const why =
          readers.length > 0 && readers.every(isAtStop)
            ? 'every reader is at its stop_block'
            : 'the chain is quiet'
        return `subscribed; no event within ${waitMs / 1_000} seconds, ${why}`
      },
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

/** The first event on a new socket; undefined if the server confirmed the subscription but sent no event in time. */
function firstMessage(address: URL, insecure: boolean, waitMs: number): Promise<string | undefined> {
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, { rejectUnauthorized: !insecure, handshakeTimeout: waitMs })
    let isSubscribed = false
    const timer = setTimeout(() => {
      end(isSubscribed ? undefined : new Error(`no answer within ${waitMs / 1_000} seconds`))
    }, waitMs)
    const end = (result: Error | string | undefined): void => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.terminate()
      if (result instanceof Error) reject(result)
      else resolve(result)
    }
    socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', id: 'smoke' })))
    socket.on('message', (data: Buffer) => {
      const { type, event } = JSON.parse(data.toString('utf8')) as { type?: string; event?: string }
      if (type === 'subscribed') isSubscribed = true
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
