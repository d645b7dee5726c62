/**
 * The clients of `bench/latency`: websockets that subscribe to everything of the assets, and REST requests at a rate.
 * Usage: clients-process.js URL COUNT. At `{ perSecond }` it sends the times of the requests before, and changes the
 * rate; no client waits for another's answer.
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { HttpClient } from '../http-client.ts'
import { sharedNow } from './messages.ts'
import type { ClientsMessage, WantedLoad } from './messages.ts'

const [url = '', count = ''] = process.argv.slice(2)
const clientCount = Number(count)
/** Connections for REST requests, and how often those that are due are sent, ms. */
const REST_CONNECTIONS = 16
const TURN_MS = 5

/** Clients by block that have an event of it. */
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

/** Addresses that differ from request to request: assets, those of owners and templates, transfers, sales. */
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

/** Connections that wait for a request; the server closes those that wait long. */
let idle: HttpClient[] = []
let perSecond = 0
let due = 0
let sent = 0
let times: number[] = []
let failures = 0
setInterval(() => {
  due += (perSecond * TURN_MS) / 1_000
  // One that had to wait for a connection was due earlier.
  for (; due >= 1 && idle.length > 0; due--)
    void request(idle.pop()!, performance.now() - ((due - 1) * 1_000) / perSecond)
}, TURN_MS).unref()

async function request(client: HttpClient, dueMs: number): Promise<void> {
  const { status } = await client.get(addresses[sent++ % addresses.length]!)
  times.push(performance.now() - dueMs)
  if (status !== 200) failures++
  idle.push(client)
}

process.on('message', ({ perSecond: wanted }: WantedLoad) => {
  say({ restMs: times, failures })
  perSecond = due = failures = 0
  times = []
  for (const client of idle) client.close()
  idle = []
  if (wanted > 0) void open(wanted)
})

async function open(wanted: number): Promise<void> {
  idle = await Promise.all(Array.from({ length: REST_CONNECTIONS }, () => HttpClient.open(url)))
  perSecond = wanted
}
process.on('disconnect', () => process.exit(0))
say({ ready: true })

function say(message: ClientsMessage): void {
  process.send?.(message)
}
