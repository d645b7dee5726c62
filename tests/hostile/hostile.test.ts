import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { WebsocketClient } from '../live/clients.ts'
import { rounds } from '../setup/rounds.ts'
import { describeWithPrograms, memoryCourses, memoryTable, namespaces } from './programs.ts'
import { fetchFrom, learnRest, RawAttack, RestAttack } from './rest.ts'
import { SocketAttack } from './sockets.ts'
import { StateAttack } from './state.ts'
import { runMany } from './tally.ts'
import type { Tally } from './tally.ts'

/** Total number of requests, packets and frames. `npm run hostile` sends a million. */
const COUNT = Number(process.env.HOSTILE_REQUESTS ?? rounds(2_000, 6_000))
const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_123)
/** Share of the total number (COUNT) that each attack sends. */
const shares = {
  rest: 0.08,
  raw: 0.01,
  metrics: 0.0025,
  health: 0.0025,
  state: 0.04,
  stateRaw: 0.005,
  websocket: 0.295,
  io3: 0.14,
  io4: 0.14,
  polling: 0.01,
  stream: 0.005,
  ship: 0.27,
}
/** Limit of memory growth between the second and the last fifth of the run, megabytes. */
const MAX_GROWTH_MB = 64
/** Minimum duration in seconds of a run whose growth is checked: in a shorter run the processes still warm up. */
const GROWTH_FROM_S = 60
const AT_ONCE = 6
/** Number of concurrent attacks that wait for answers which never come. */
const WAITING_AT_ONCE = 24
const LONGEST_MS = Math.max(600_000, COUNT * 10)

describeWithPrograms('hostile requests, packets and frames', (running) => {
  it(
    `${COUNT} hostile requests of seed ${SEED} at all entry points: no crash, no server error, bounded memory, no lost event`,
    async () => {
      const programs = running()
      const { apiUrl, stateUrl, relay } = programs
      const rest = new RestAttack(apiUrl, await learnRest(namespaces, fetchFrom(apiUrl)))
      const raw = new RawAttack('api', apiUrl, [
        '/assets/v1/assets?limit=2',
        '/market/v2/sales?limit=2',
        '/health',
        '/socket.io/',
        '/assets/v1/live',
        '/',
      ])
      const state = await StateAttack.open(stateUrl, programs.key)
      const stateRaw = new RawAttack('state service', stateUrl, [
        '/v0/state/abi',
        '/v1/auth/issue',
        '/healthz',
      ])
      const metrics = new RawAttack('api metrics', programs.metricsUrl, ['/metrics', '/'])
      const health = new RawAttack('filler health', programs.fillerUrl, ['/health', '/healthc', '/metrics'])
      const sockets = {
        websocket: new SocketAttack(apiUrl, 'websocket'),
        io3: new SocketAttack(apiUrl, 'socket.io 3'),
        io4: new SocketAttack(apiUrl, 'socket.io 4'),
        polling: new SocketAttack(apiUrl, 'polling'),
        stream: new SocketAttack(apiUrl, 'event stream'),
      }
      const workers = programs.api.children
      const witness = await WebsocketClient.open(`${apiUrl}/assets/v1/live`)
      await witness.subscribe({})
      const beginMs = performance.now()
      relay.attack(SEED, COUNT * shares.ship)
      const drive = async (
        attack: { readonly tally: Tally; send(seed: number): Promise<void> },
        share: number,
        salt: number,
        atOnce = AT_ONCE,
      ): Promise<void> => {
        const stop = new AbortController()
        const startedMs = performance.now()
        await runMany(
          Infinity,
          atOnce,
          async (number) => {
            if (attack.tally.sent >= COUNT * share || programs.crashed.length > 0) stop.abort()
            else await attack.send(SEED + salt + number * 13)
          },
          stop.signal,
        )
        attack.tally.elapsedS = (performance.now() - startedMs) / 1_000
      }
      await Promise.all([
        drive(rest, shares.rest, 1),
        drive(raw, shares.raw, 2, WAITING_AT_ONCE),
        drive(state, shares.state, 3),
        drive(stateRaw, shares.stateRaw, 4, WAITING_AT_ONCE),
        drive(metrics, shares.metrics, 10, WAITING_AT_ONCE),
        drive(health, shares.health, 11, WAITING_AT_ONCE),
        drive(sockets.websocket, shares.websocket, 5),
        drive(sockets.io3, shares.io3, 6),
        drive(sockets.io4, shares.io4, 7),
        drive(sockets.polling, shares.polling, 8, WAITING_AT_ONCE),
        drive(sockets.stream, shares.stream, 9, WAITING_AT_ONCE),
        untilRelayIsDone(),
      ])
      rest.close()
      state.close()
      const elapsedS = (performance.now() - beginMs) / 1_000
      const courses = memoryCourses(programs)
      const tallies = [rest, raw, state, stateRaw, metrics, health, ...Object.values(sockets)]
        .map(({ tally }) => tally)
        .concat(relay.tally)
      for (const line of programs.filler.output.matchAll(/^ended (\w+) .*$/gm))
        relay.tally.note(`ended ${line[1]!}`)
      console.info(
        [
          `seed ${SEED}, ${tallies.reduce((sum, { sent }) => sum + sent, 0)} sent in ${elapsedS.toFixed(0)} s`,
          '| Entry | Sent | Seconds | Outcomes | Faults |\n| --- | --- | --- | --- | --- |',
          ...tallies.map((tally) => tally.row()),
          '',
          memoryTable(courses),
        ].join('\n'),
      )
      expect(programs.crashed).toEqual([])
      // The workers are still the same processes: a crashed worker would have been replaced.
      expect(programs.api.children).toEqual(workers)
      expect(tallies.flatMap(({ problems }) => problems)).toEqual([])
      expect(programs.filler.output).not.toMatch(/^ended (?:INTERNAL|UNKNOWN) /m)
      expect(`${programs.api.output}${programs.state.output}`).not.toMatch(/unhandled|uncaught/i)
      for (const { name, earlyMegabytes, lateMegabytes } of elapsedS < GROWTH_FROM_S ? [] : courses)
        expect([name, lateMegabytes - earlyMegabytes < MAX_GROWTH_MB]).toEqual([name, true])
      // The witness, a client that obeys the protocol, is still connected.
      expect(witness.closed).toBeUndefined()
      expect((await fetch(`${apiUrl}/assets/v1/assets?limit=5`)).status).toBe(200)
      expect(await programs.differences()).toEqual([])
      await expect.poll(() => witness.messages.length).toBeGreaterThan(1)
      witness.socket.terminate()
    },
    LONGEST_MS,
  )

  async function untilRelayIsDone(): Promise<void> {
    const startedMs = performance.now()
    while (!running().relay.isDone && running().crashed.length === 0) await sleep(100)
    running().relay.tally.elapsedS = (performance.now() - startedMs) / 1_000
  }
})
