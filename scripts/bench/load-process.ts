/**
 * Sends a load from a process of its own, so that the answers of one load do not delay the times of another.
 * Reads the load of `sendLoadApart` as JSON from the standard input and writes the answers as JSON.
 */
import { json } from 'node:stream/consumers'
import { sendLoad } from './overload-lists.ts'
import type { LoadApart } from './overload-lists.ts'

const { url, connections, requests, perSecond, seconds } = (await json(process.stdin)) as LoadApart
let sent = 0
const next = () => requests[sent++ % requests.length]!
// If the server delays its answers, some requests are overdue when the load ends: do not send them.
const signal = AbortSignal.timeout(seconds * 1_000)
const { answers } = await sendLoad(url, connections, { next, perSecond, seconds, signal })
process.stdout.write(JSON.stringify(answers))
