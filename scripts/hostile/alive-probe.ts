/**
 * Requests an address again and again until its standard input ends, then prints the longest time of an answer, ms.
 * Usage: alive-probe.js URL. A process of its own: the tests that send the load have long turns of the event loop.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const REST_MS = 20
const [url] = process.argv.slice(2)
let longestMs = 0
let isOver = false
process.stdin.on('end', () => (isOver = true)).resume()
while (!isOver) {
  const startedMs = performance.now()
  await (await fetch(url!)).arrayBuffer()
  longestMs = Math.max(longestMs, performance.now() - startedMs)
  await sleep(REST_MS)
}
console.log(longestMs.toFixed(0))
