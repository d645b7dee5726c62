import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WebSocket } from 'ws'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebsocketClient } from './clients.ts'
import { assetId, startLiveServer } from './live-server.ts'
import type { LiveServer } from './live-server.ts'

/** Blocks of 190 events each: more data than the socket buffers hold for a client that does not read. */
const BLOCKS = 40
const CONNECTIONS_PER_ADDRESS = 8

describe('hostile clients', () => {
  let server: LiveServer
  let cursor: string
  const opened: { close(): void }[] = []

  beforeAll(async () => {
    server = await startLiveServer({
      ...{ trust_proxy: true },
      live: { messages_per_second: 2, connections_per_address: CONNECTIONS_PER_ADDRESS },
    })
    const witness = await connectFrom('10.0.0.1')
    await witness.subscribe({ events: ['asset_minted'] })
    await server.feed.block(500, [{ action: 'logmint', id: assetId(3), data: { asset_id: assetId(3) } }])
    cursor = (await witness.received('event', 1))[0]!.cursor!
    const updates = Array.from({ length: 190 }, (_, at) => ({ action: 'logsetdata', id: assetId(at) }))
    for (let block = 501; block <= 500 + BLOCKS; block++) await server.feed.block(block, updates)
  })
  afterEach(() => {
    for (const client of opened.splice(0)) client.close()
  })
  afterAll(() => server.close())

  async function connectFrom(address: string): Promise<WebsocketClient> {
    const headers = { 'X-Forwarded-For': address }
    const client = await WebsocketClient.open(`${server.api.url}/assets/v1/live`, { headers })
    opened.push(client)
    return client
  }

  async function resumeWithoutReading(address: string): Promise<WebsocketClient> {
    const client = await connectFrom(address)
    client.send({ type: 'subscribe', cursor })
    client.socket.pause()
    return client
  }

  /** Connects a client, resumes from the cursor of the suite and waits for all missed events. */
  async function resumeWhole(address: string): Promise<void> {
    const client = await connectFrom(address)
    await client.subscribe({ cursor })
    await client.received('event', BLOCKS * 190)
  }

  it('clients of one address that do not read do not prevent clients of other addresses from resuming', async () => {
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => resumeWithoutReading('10.0.0.2')))
    await sleep(500)
    await resumeWhole('10.0.0.3')
  })

  it('clients that do not read are disconnected, and do not prevent a client of another address from resuming', async () => {
    const stuck = await Promise.all(
      ['10.0.1.1', '10.0.1.2', '10.0.1.3', '10.0.1.4'].map((address) => resumeWithoutReading(address)),
    )
    await sleep(500)
    await resumeWhole('10.0.1.5')
    // Wait longer than the time within which a client must read.
    await sleep(12_000)
    for (const client of stuck) client.socket.resume()
    await Promise.all(stuck.map((client) => client.untilClosed()))
  })

  /** Opens a raw websocket to socket.io as a generation 2 client, without the client library. */
  async function openRaw(): Promise<WebSocket> {
    const url = server.api.url.replace('http', 'ws')
    const socket = new WebSocket(`${url}/socket.io/?EIO=3&transport=websocket`)
    socket.on('error', () => undefined)
    opened.push({ close: () => socket.terminate() })
    await new Promise((resolve) => socket.once('open', resolve))
    return socket
  }

  it('a socket.io client that sends pings over a websocket without reading the answers is disconnected', async () => {
    const socket = await openRaw()
    socket.pause()
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    for (let sent = 0; sent < 20_000; sent++) socket.send('2')
    await sleep(500)
    let answers = 0
    socket.on('message', (data: Buffer) => (answers += data.toString() === '3' ? 1 : 0))
    socket.resume()
    await closed
    expect(answers).toBeLessThan(100)
  })

  it('a socket.io client that sends pings by polling without reading the answers loses its session', async () => {
    const base = `${server.api.url}/socket.io/?EIO=3&transport=polling`
    const text = await (await fetch(base)).text()
    const sid = /"sid":"([^"]+)"/.exec(text)![1]!
    const post = () => fetch(`${base}&sid=${sid}`, { method: 'POST', body: '1:2'.repeat(50) })
    expect((await post()).status).toBe(200)
    for (let each = 0; each < 10; each++) await post().catch(() => undefined)
    const poll = () => fetch(`${base}&sid=${sid}`)
    // The server queues answers up to the limit, then closes the session and refuses further polls.
    const answers = [await poll(), await poll()]
    for (const answer of answers) expect((await answer.text()).length).toBeLessThan(500)
    expect((await poll()).status).toBe(400)
  })

  /** Sends raw bytes on a new connection; returns the response once it contains `count` matches. */
  function sendRaw(bytes: string, answers: RegExp, count: number): Promise<string> {
    const socket = connect(server.api.port, '127.0.0.1')
    opened.push({ close: () => socket.destroy() })
    socket.write(bytes)
    let text = ''
    return new Promise((resolve) => {
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1')
        if ([...text.matchAll(answers)].length >= count) resolve(text)
      })
      socket.on('close', () => resolve(text))
      socket.on('error', () => undefined)
    })
  }

  it('clients that open many socket.io sessions at once get no more than the limit', async () => {
    const handshake =
      'GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: api\r\nX-Forwarded-For: 10.0.2.1\r\n\r\n'
    const count = CONNECTIONS_PER_ADDRESS + 5
    const text = await sendRaw(handshake.repeat(count), /HTTP\/1\.1 (?:200|403)/g, count)
    expect(text.match(/"sid":/g)).toHaveLength(CONNECTIONS_PER_ADDRESS)
    expect(text.match(/live connections of one address/g)).toHaveLength(5)
  })

  it('a client whose websocket handshake fails does not use up a connection of its address', async () => {
    const headers = 'Host: api\r\nX-Forwarded-For: 10.0.2.2\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    const wrong = `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n${headers}Sec-WebSocket-Version: 13\r\n\r\n`
    for (let each = 0; each < 2 * CONNECTIONS_PER_ADDRESS; each++)
      expect(await sendRaw(wrong, /Sec-WebSocket-Key/g, 1)).toContain('HTTP/1.1 400 Bad Request')
  })

  it.each(['/assets/v1/live', '/socket.io/?EIO=4&transport=websocket'])(
    'a client that sends pings to the websocket at %s without reading the answers is disconnected',
    async (path) => {
      const headers =
        'Host: api\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
      const socket = connect(server.api.port, '127.0.0.1')
      opened.push({ close: () => socket.destroy() })
      socket.on('error', () => undefined)
      socket.write(`GET ${path} HTTP/1.1\r\n${headers}Sec-WebSocket-Key: ${'a'.repeat(22)}==\r\n\r\n`)
      await once(socket, 'data')
      socket.pause()
      const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125]), Buffer.alloc(4 + 125)])
      const pings = Buffer.alloc(1_000 * ping.length, ping)
      // Send more bytes than the socket buffers hold.
      for (let sent = 0; sent < 32 * 2 ** 20 && !socket.destroyed; sent += pings.length)
        await new Promise<void>((resolve) => socket.write(pings, () => resolve()))
      expect(socket.destroyed).toBe(true)
    },
  )

  it('a client that joins a namespace twice is disconnected, and gets no event twice', async () => {
    const url = server.api.url.replace('http', 'ws')
    const socket = new WebSocket(`${url}/socket.io/?EIO=4&transport=websocket`)
    opened.push({ close: () => socket.terminate() })
    const received: string[] = []
    socket.on('message', (data: Buffer) => void received.push(data.toString()))
    await once(socket, 'open')
    for (const suffix of ['offers', 'assets', 'assets', 'assets']) socket.send(`40/assets/v1/${suffix},`)
    const has = (text: string): boolean => received.some((each) => each.includes(text))
    await expect.poll(() => has('40/assets/v1/offers,')).toBe(true)
    await server.feed.block(600, [{ action: 'logmint', id: assetId(3) }])
    await expect.poll(() => has('new_asset') || socket.readyState === socket.CLOSED).toBe(true)
    expect(received.filter((each) => each.includes('new_asset'))).toEqual([])
  })

  it('a client with an ordinary ping rate stays connected', async () => {
    const socket = await openRaw()
    let answers = 0
    socket.on('message', (data: Buffer) => (answers += data.toString() === '3' ? 1 : 0))
    for (let sent = 0; sent < 10; sent++) socket.send('2')
    await expect.poll(() => answers).toBe(10)
    expect(socket.readyState).toBe(socket.OPEN)
  })

  it('large messages that many clients send at once do not block the event loop', async () => {
    const addresses = Array.from({ length: 80 }, (_, at) => `10.0.3.${Math.floor(at / 4)}`)
    const members = Array.from({ length: 6_000 }, (_, at) => `"k${at}":1`).join()
    const plain = await Promise.all(addresses.map(connectFrom))
    const delayed = monitorEventLoopDelay({ resolution: 1 })
    const measure = async (send: () => void, isDone: () => Promise<unknown>): Promise<number> => {
      delayed.reset()
      const startedMs = performance.now()
      delayed.enable()
      send()
      await isDone()
      delayed.disable()
      return delayed.max / 1e6 / (performance.now() - startedMs)
    }
    const shares = [
      await measure(
        () => {
          for (const client of plain) client.send(`{"type":"subscribe",${members}}`)
        },
        () => Promise.all(plain.map((client) => client.received('error', 1))),
      ),
    ]
    for (const client of plain) client.close()
    const url = `${server.api.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`
    const sockets = addresses.map(
      (address) => new WebSocket(url, { headers: { 'X-Forwarded-For': address.replace('.3.', '.4.') } }),
    )
    opened.push(...sockets.map((socket) => ({ close: () => socket.terminate() })))
    await Promise.all(sockets.map((socket) => once(socket, 'open')))
    let joined = 0
    for (const socket of sockets)
      socket.on('message', (data: Buffer) => (joined += data.toString().startsWith('40') ? 1 : 0))
    shares.push(
      await measure(
        () => {
          for (const socket of sockets) socket.send(`40/assets/v1/assets,{${members}}`)
        },
        () => expect.poll(() => joined).toBe(sockets.length),
      ),
    )
    for (const share of shares) expect(share).toBeLessThan(0.4)
  })

  it('the data that a socket.io client sends when it joins a namespace are not kept', async () => {
    setFlagsFromString('--expose_gc')
    const collect = runInNewContext('gc') as () => void
    const heap = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const url = `${server.api.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`
    const sockets = Array.from({ length: CONNECTIONS_PER_ADDRESS }, () => new WebSocket(url))
    opened.push(...sockets.map((socket) => ({ close: () => socket.terminate() })))
    await Promise.all(sockets.map((socket) => once(socket, 'open')))
    let joined = 0
    const before = heap()
    const data = `{"a":[${Array.from({ length: 20_000 }, () => '{}').join()}]}`
    const namespaces = ['/assets', '/atomicassets'].flatMap((path) =>
      ['assets', 'offers', 'transfers'].map((suffix) => `${path}/v1/${suffix}`),
    )
    for (const socket of sockets) {
      socket.on('message', (text: Buffer) => (joined += text.toString().startsWith('40') ? 1 : 0))
      for (const name of namespaces) socket.send(`40${name},${data}`)
    }
    await expect.poll(() => joined).toBe(sockets.length * namespaces.length)
    // Kept data would take at least a megabyte for each namespace of each client.
    await expect.poll(() => heap() - before).toBeLessThan(sockets.length * namespaces.length * 2 ** 19)
  })

  it('client scripts that a client requests and does not read leave no open files', async () => {
    const openScripts = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).includes('client-dist')
        } catch {
          return false
        }
      }).length
    const socket = connect(server.api.port, '127.0.0.1').pause()
    socket.write('GET /socket.io/socket.io.js.map HTTP/1.1\r\nHost: api\r\n\r\n'.repeat(60))
    await expect.poll(openScripts).toBeGreaterThan(1)
    socket.destroy()
    await expect.poll(openScripts).toBe(0)
  })
})
