import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { WebsocketClient } from '../live/clients.ts'
import { describeWithPrograms, memoryCourses, memoryTable, namespaces } from './programs.ts'
import { fetchFrom, learnRest, RawAttack, RestAttack } from './rest.ts'
import { SocketAttack } from './sockets.ts'
import { StateAttack } from './state.ts'
import { Tally } from './tally.ts'

/** Duration of the load, minutes. `npm run soak` runs it for an hour. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 1)
const SEED = Number(process.env.SOAK_SEED ?? 20_261_123)
const SUBSCRIBERS = 30
/** Interval at which a subscriber leaves and another subscriber joins, ms. */
const SUBSCRIBER_TURN_MS = 2_000
/** Pause between two requests of the same kind, ms. */
const pauses = { friendly: 50, rest: 200, raw: 1_000, state: 200, socket: 1_000 }
/** Number of invalid frames that the relay in front of the chain node sends once a minute. */
const HOSTILE_FRAMES = 300
/** Limit of a process's memory growth from the second to the last fifth of an hour, megabytes. */
const MAX_GROWTH_MB = 64

const friendly = [
  '/assets/v1/assets?limit=20&page=',
  '/assets/v1/transfers?limit=20&page=',
  '/market/v2/sales?limit=20&state=1&page=',
  '/assets/v1/accounts?limit=20&page=',
  '/assets/v1/templates?limit=20&page=',
  '/tools/v1/links?limit=20&page=',
]

describeWithPrograms('a long run of mixed load', (running) => {
  it(
    `${MINUTES} minutes of mixed load: bounded memory, no lost event, no failed client`,
    async () => {
      const programs = running()
      const { apiUrl, stateUrl, relay } = programs
      const untilMs = performance.now() + MINUTES * 60_000
      const isOver = (): boolean => performance.now() > untilMs || programs.crashed.length > 0
      const rest = new RestAttack(apiUrl, await learnRest(namespaces, fetchFrom(apiUrl)))
      const raw = new RawAttack('api', apiUrl, [
        '/assets/v1/assets?limit=2',
        '/socket.io/',
        '/assets/v1/live',
      ])
      const state = await StateAttack.open(stateUrl, programs.key)
      const sockets = (['websocket', 'socket.io 3', 'socket.io 4', 'polling', 'event stream'] as const).map(
        (tongue) => new SocketAttack(apiUrl, tongue),
      )
      const asked = new Tally('api: ordinary requests')
      const received = new Tally('api: events to subscribers')
      const repeat = async (pauseMs: number, work: (number: number) => Promise<void>): Promise<void> => {
        for (let number = 0; !isOver(); number++) {
          await work(number)
          await sleep(pauseMs)
        }
      }
      const drive = (
        attack: { send(seed: number): Promise<void> },
        pauseMs: number,
        salt: number,
      ): Promise<void> => repeat(pauseMs, (number) => attack.send(SEED + salt + number * 13))
      await Promise.all([
        repeat(pauses.friendly, async (number) => {
          const response = await fetch(`${apiUrl}${friendly[number % friendly.length]!}${1 + (number % 9)}`)
          await response.arrayBuffer()
          asked.sent++
          asked.note(String(response.status))
          if (response.status !== 200 && response.status !== 503)
            asked.blame(`${response.url} -> ${response.status}`)
        }),
        subscribe(received, isOver),
        drive(rest, pauses.rest, 1),
        drive(raw, pauses.raw, 2),
        drive(state, pauses.state, 3),
        ...sockets.map((attack, at) => drive(attack, pauses.socket, 4 + at)),
        repeat(60_000, (minute) => {
          relay.attack(SEED + minute, relay.tally.sent + HOSTILE_FRAMES)
          console.info(`minute ${minute}: block ${programs.chain.head().num}, ${now()}`)
          return Promise.resolve()
        }),
      ])
      rest.close()
      state.close()
      const courses = memoryCourses(programs)
      const tallies = [
        asked,
        received,
        relay.tally,
        ...[rest, raw, state, ...sockets].map(({ tally }) => tally),
      ]
      console.info(
        [
          `${MINUTES} minutes, ${programs.chain.head().num} blocks`,
          '| Entry | Sent | Seconds | Outcomes | Faults |\n| --- | --- | --- | --- | --- |',
          ...tallies.map((tally) => tally.row()),
          '',
          memoryTable(courses),
        ].join('\n'),
      )
      expect(programs.crashed).toEqual([])
      expect(tallies.flatMap(({ problems }) => problems)).toEqual([])
      expect(received.sent).toBeGreaterThan(0)
      for (const { name, earlyMegabytes, lateMegabytes } of courses)
        expect([name, lateMegabytes - earlyMegabytes < MAX_GROWTH_MB]).toEqual([name, true])
      expect(await running().differences()).toEqual([])
    },
    MINUTES * 60_000 + 600_000,
  )

  /**
   * Keeps several subscribers connected. The oldest subscriber leaves at intervals, and a new subscriber joins; every
   * second new subscriber resumes at the cursor of the subscriber that left.
   */
  async function subscribe(received: Tally, isOver: () => boolean): Promise<void> {
    const clients: WebsocketClient[] = []
    let cursor: string | undefined
    for (let number = 0; !isOver(); number++) {
      const client = await WebsocketClient.open(`${running().apiUrl}/assets/v1/live`).catch(() => undefined)
      if (client) {
        await client.subscribe(number % 2 === 0 || cursor === undefined ? {} : { cursor })
        clients.push(client)
      } else received.note('not connected')
      if (clients.length > SUBSCRIBERS) {
        const oldest = clients.shift()!
        if (oldest.closed) received.note(`cut off: ${oldest.closed.code}`)
        received.sent += oldest.messages.length
        cursor = oldest.messages.findLast((message) => message.cursor !== undefined)?.cursor
        oldest.socket.terminate()
      }
      await sleep(clients.length < SUBSCRIBERS ? 50 : SUBSCRIBER_TURN_MS)
    }
    for (const { socket, messages } of clients) {
      received.sent += messages.length
      socket.terminate()
    }
  }

  function now(): string {
    return [...running().memory]
      .map(([name, samples]) => `${name} ${samples.at(-1)!.megabytes.toFixed(0)} MB`)
      .join(', ')
  }
})
