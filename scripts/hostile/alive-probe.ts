/**
 * Measures how long a server under load delays its answers. Requests the address of the server and an idle
 * server at the same moment, repeatedly, until the standard input ends. Then prints the longest time by which
 * the server's answer came after that of the idle server, ms: a busy machine delays both answers. Usage:
 * alive-probe.js URL IDLE_URL. A process of its own, because the tests that send the load block their event
 * loop for long.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/** Pause between two measurements, ms: a short part of the seconds of delay that the tests look for. */
const REST_MS = 100
const [url, idleUrl] = process.argv.slice(2)

/** Time until the answer of a server, ms. */
async function answerMs(of: string): Promise<number> {
  const startedMs = performance.now()
  await (await fetch(of)).arrayBuffer()
  return performance.now() - startedMs
}

let longestMs = 0
let isOver = false
process.stdin.on('end', () => (isOver = true)).resume()
while (!isOver) {
  const [ms, idleMs] = await Promise.all([answerMs(url!), answerMs(idleUrl!)])
  longestMs = Math.max(longestMs, ms - idleMs)
  await sleep(REST_MS)
}
console.log(longestMs.toFixed(0))
