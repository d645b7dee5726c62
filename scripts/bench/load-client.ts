/**
 * Sends the same request again and again over plain sockets, as cheaply as can be. Usage:
 * load-client.js URL SECONDS CONNECTIONS [NAME:VALUE ...]. Prints one line of JSON: {"perSecond", "p50Ms", "p99Ms"}.
 */
import { connect } from 'node:net'

const [target, seconds, connections, ...headers] = process.argv.slice(2)
const { hostname, port, pathname, search, host } = new URL(target!)
const lines = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...headers, '', '']
const request = lines.join('\r\n')
const untilMs = performance.now() + Number(seconds) * 1_000
const latencies: number[] = []

/** Bytes of the whole answer, named in its first piece. */
function answerLength(first: Buffer): number {
  const text = first.toString('latin1')
  const end = text.indexOf('\r\n\r\n') + 4
  const length = /^HTTP\/1.1 304/.test(text) ? 0 : Number(/content-length: (\d+)/i.exec(text)?.[1])
  if (end < 4 || Number.isNaN(length)) throw new Error(`an answer without length: ${text.slice(0, 200)}`)
  return end + length
}

async function drive(): Promise<void> {
  const socket = connect(Number(port), hostname)
  await new Promise<void>((resolve, reject) => {
    let sentMs = 0
    let missing = -1
    const send = (): void => {
      if (performance.now() >= untilMs) {
        socket.destroy()
        resolve()
        return
      }
      missing = -1
      sentMs = performance.now()
      socket.write(request)
    }
    socket.on('connect', send).on('error', reject)
    socket.on('data', (chunk) => {
      if (missing < 0) missing = answerLength(chunk)
      missing -= chunk.length
      if (missing > 0) return
      latencies.push(performance.now() - sentMs)
      send()
    })
  })
}

await Promise.all(Array.from({ length: Number(connections) }, drive))
latencies.sort((one, other) => one - other)
const at = (part: number): number =>
  Math.round(latencies[Math.floor(latencies.length * part)]! * 1_000) / 1_000
console.log(
  JSON.stringify({
    perSecond: Math.round(latencies.length / Number(seconds)),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }),
)
