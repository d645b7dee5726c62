/**
 * The clients of `bench/latency`, as a separate process: websockets that subscribe to all events of the assets
 * namespace, and connections that send REST requests at a rate.
 * Usage: clients-process.js URL COUNT
 * The message `{ perSecond }` changes the rate. The process then replies with the times of the requests at the previous
 * rate. A request is sent when it is due, whether or not earlier requests have been answered.
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { LoadGenerator } from '../load.ts'
import type { Load } from '../load.ts'
import { sharedNow } from './messages.ts'
import type { ClientsMessage, WantedLoad } from './messages.ts'

const [url = '', count = ''] = process.argv.slice(2)
const clientCount = Number(count)
/** Connections for REST requests. */
const REST_CONNECTIONS = 16

/** Number of clients that have received an event of a block, by block number. */
const heard = new Map<number, number>()

async function subscribe(): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/assets/v1/live`)
  await once(socket, 'open')
  let last = 0
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as { type: string; block?: { num: number } }
    if (message.type !== 'event' || message.block === undefined || message.block.num <= last) return
    last = message.block.num
    const clients = (heard.get(last) ?? 0) + 1
    heard.set(last, clients)
    if (clients < clientCount) return
    heard.delete(last)
    say({ block: last, atMs: sharedNow() })
  })
  socket.send(JSON.stringify({ type: 'subscribe' }))
}

/** Picks distinct URLs: assets, assets by owner and by template, transfers, sales. */
async function pickAddresses(): Promise<string[]> {
  const answer = await fetch(`${url}/assets/v1/assets?limit=1000`)
  const { data } = (await answer.json()) as {
    data: { asset_id: string; owner: string | null; template: { template_id: string } | null }[]
  }
  return data.flatMap(({ asset_id: id, owner, template }, at) => [
    `/assets/v1/assets/${id}`,
    `/assets/v1/assets?owner=${owner ?? ''}&limit=${20 + (at % 80)}`,
    `/assets/v1/assets?template_id=${template?.template_id ?? 'null'}&limit=${20 + (at % 80)}`,
    `/assets/v1/transfers?account=${owner ?? ''}&limit=${20 + (at % 80)}`,
    `/market/v1/sales?state=1&seller=${owner ?? ''}&limit=${20 + (at % 80)}`,
  ])
}

const addresses = await pickAddresses()
await Promise.all(Array.from({ length: clientCount }, subscribe))

let sent = 0
let ending = new AbortController()
/** The REST requests that are being sent at the current rate; undefined before the first rate. */
let running: Promise<Load> | undefined

process.on('message', ({ perSecond }: WantedLoad) => {
  ending.abort()
  const before = running
  ending = new AbortController()
  running = perSecond > 0 ? send(perSecond, ending.signal) : undefined
  void before?.then((load) => say({ restMs: load.times(), failures: load.failures(200) }))
  if (before === undefined) say({ restMs: [], failures: 0 })
})

/** Opens new connections: the server closes connections that were idle for long. */
async function send(perSecond: number, signal: AbortSignal): Promise<Load> {
  const load = await LoadGenerator.open(url, REST_CONNECTIONS)
  try {
    return await load.run({
      perSecond,
      signal,
      next: () => ({ path: addresses[sent++ % addresses.length]! }),
    })
  } finally {
    load.close()
  }
}
process.on('disconnect', () => process.exit(0))
say({ ready: true })

function say(message: ClientsMessage): void {
  process.send?.(message)
}
