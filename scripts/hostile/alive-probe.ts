/**
 * Requests an address and an idle server at the same moment, again and again until its standard input ends. Then prints,
 * of all rounds, the longest time by which the answer of the address came after that of the idle server, ms: a busy
 * machine delays both answers.
 * Usage: alive-probe.js URL IDLE_URL. A process of its own: the tests that send the load have long turns of the event loop.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const REST_MS = 20
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
