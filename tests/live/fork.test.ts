import { afterAll, beforeAll, expect, it } from 'vitest'
import { StreamClient, until, WebsocketClient } from './clients.ts'
import type { LiveMessage } from './clients.ts'
import { LiveChain } from './live-chain.ts'
import { generations, SocketClient } from './socket-io-clients.ts'
import { survivingBlocks } from './published.ts'

let chain: LiveChain
const opened: { close(): void }[] = []

beforeAll(async () => {
  chain = await LiveChain.start({ seed: 9 })
})
afterAll(async () => {
  for (const client of opened) client.close()
  await chain.close()
})

/** Global sequence and block id of each event that no later fork has undone for the client. */
function remembered(messages: readonly LiveMessage[]): string[] {
  let kept: LiveMessage[] = []
  for (const message of messages) {
    if (message.type === 'event') kept.push(message)
    if (message.type === 'fork') kept = kept.filter(({ block }) => block!.num < message.block_num!)
  }
  return kept.map(({ global_sequence, block }) => `${String(global_sequence)} ${block!.id}`)
}

async function survivors(after: number): Promise<string[]> {
  return survivingBlocks(await chain.entries())
    .filter(({ block }) => block.num > after)
    .flatMap(({ block, transactions, events }) =>
      events
        .filter(({ family }) => family === 'assets')
        .map(
          (event) => `${transactions[event.transaction]!.traces[event.trace]!.global_sequence} ${block.id}`,
        ),
    )
}

it('each of 200 clients gets one fork, then the new branch; every cursor resumes on the new branch', async () => {
  const start = chain.chain.chain.head().num
  const websockets = await Promise.all(
    Array.from({ length: 80 }, () => WebsocketClient.open(`${chain.api.url}/assets/v1/live`)),
  )
  const streams = Array.from({ length: 60 }, () => new StreamClient(`${chain.api.url}/assets/v1/events`))
  const sockets = Array.from({ length: 60 }, (_, at) => {
    const generation = generations[at % generations.length]!
    return new SocketClient(`${chain.api.url}/assets/v1/${at % 2 === 0 ? 'assets' : 'offers'}`, {
      generation,
      ...(at % 6 < 3 ? { transports: ['websocket'] as const } : {}),
    })
  })
  opened.push(...websockets, ...streams, ...sockets)
  await Promise.all(websockets.map((client) => client.subscribe()))
  await Promise.all(streams.map((client) => client.received('subscribed', 1)))
  await Promise.all(sockets.map((client) => client.untilConnected()))

  for (let block = 0; block < 3; block++) await chain.produce()
  // Twenty clients disconnect in the middle of the branch that will be undone; each has the cursor of its last event.
  const leaving = websockets.splice(0, 20)
  const everything = await survivors(start)
  await Promise.all(leaving.map((client) => client.received('event', everything.length)))
  const left = leaving.map((client, at) => {
    client.close()
    const events = client.messages.filter(({ type }) => type === 'event')
    return events.slice(0, events.length - (at % events.length))
  })
  for (let block = 0; block < 2; block++) await chain.produce()
  chain.chain.chain.fork(4, 6)
  await chain.committed()
  await chain.produce()

  const wanted = await survivors(start)
  const isDone = (messages: readonly LiveMessage[]): boolean => remembered(messages).length === wanted.length
  const plain = [...websockets, ...streams]
  await until(
    () => plain.every(({ messages }) => messages.some(({ type }) => type === 'fork') && isDone(messages)),
    () => `${plain.filter(({ messages }) => isDone(messages)).length} of ${plain.length} have everything`,
  )
  const undone = start + 2
  for (const { messages } of plain) {
    expect(messages.flatMap(({ type, block_num }) => (type === 'fork' ? [block_num] : []))).toEqual([undone])
    expect(remembered(messages)).toEqual(wanted)
  }
  await until(
    () => sockets.every(({ events }) => events.some(({ name }) => name === 'fork')),
    () => 'a socket has received no fork',
  )
  // All sockets of one kind must have received the same messages, whatever their generation and transport.
  for (const kind of [0, 1]) {
    const same = sockets.filter((_, at) => at % 2 === kind)
    await until(
      () => same.every(({ events }) => events.length === same[0]!.events.length),
      () => `sockets have ${same.map(({ events }) => events.length).join()} events`,
    )
    for (const { events } of same) {
      expect(events.filter(({ name }) => name === 'fork').map(({ payload }) => payload)).toEqual([
        { block_num: undone },
      ])
      expect(events).toEqual(same[0]!.events)
    }
  }

  // The disconnected clients resume with their cursors. One fork message, with the lowest undone block, undoes the
  // events that the clients saw before.
  for (const [at, seen] of left.entries()) {
    const client = await WebsocketClient.open(`${chain.api.url}/assets/v1/live`)
    opened.push(client)
    const cursor = seen.at(-1)?.cursor
    await client.subscribe(cursor === undefined ? {} : { cursor })
    await until(
      () => isDone([...seen, ...client.messages]),
      () => `client ${at}: ${remembered([...seen, ...client.messages]).length} of ${wanted.length}`,
    )
    const all = [...seen, ...client.messages]
    expect(remembered(all)).toEqual(wanted)
    const sawUndone = seen.some(({ block }) => block!.num >= undone)
    expect(client.messages.filter(({ type }) => type === 'fork').length).toBe(sawUndone ? 1 : 0)
    client.close()
  }
})
