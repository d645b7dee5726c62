import { countText, secondsText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import { clientGone, SERVER_ITSELF, tooBusy } from './request-session.ts'
import type { WorkScope } from './request-session.ts'

export interface FairQueueLimits {
  /** Number of slots. Each running request holds one slot. */
  readonly slots: number
  /** Maximum number of slots for long work. All work that is not brief is long. */
  readonly longSlots: number
  /** Maximum number of requests that wait for a slot. */
  readonly maxWaiting: number
  /** Longest wait for a slot, ms. */
  readonly maxWaitMs: number
  /**
   * Maximum duration of a burst, ms. A burst begins when more clients wait than there are slots for long work. A longer
   * burst counts as overload, and overload shortens the maximum wait of a request. BURST_REQUESTS mean durations of
   * long work replace this limit if they are longer.
   */
  readonly maxBurstMs: number
}

/** The queue holds at most WAITING_PER_CONNECTION requests for each connection, but at least LEAST_WAITING. */
const WAITING_PER_CONNECTION = 4
const LEAST_WAITING = 20
/** Maximum time that a request waits for a connection, ms. */
const MAX_WAIT_MS = 5_000
/**
 * Maximum duration of a burst, ms. A pause of half a second, in which no request finishes, is not overload: if requests
 * arrive at half the rate that can be served, the requests of the pause are served within a second.
 */
const MAX_BURST_MS = 1_500

/**
 * Limits of the queue of a database server.
 * @param longSlots maximum number of connections for lists.
 */
export function queueLimits(slots: number, longSlots: number): FairQueueLimits {
  const maxWaiting = Math.max(LEAST_WAITING, slots * WAITING_PER_CONNECTION)
  return { slots, longSlots, maxWaiting, maxWaitMs: MAX_WAIT_MS, maxBurstMs: MAX_BURST_MS }
}

/** Function that releases a slot. Only the first call has an effect. */
export type Leave = () => void

interface Waiting {
  readonly scope: WorkScope
  readonly sinceMs: number
  readonly enter: (leave: Leave) => void
  readonly refuse: (error: Error) => void
}

interface Client {
  running: number
  /** Number of running requests with long work. */
  long: number
  /** Number of refused requests whose refusal is not sent yet. */
  held: number
  /** Requests of the client that wait for a slot, oldest first. */
  readonly waiting: Waiting[]
}

/** One slot is reserved for brief work for every SLOTS_FOR_A_RESERVED slots, rounded up. */
const SLOTS_FOR_A_RESERVED = 10
/** A queue with fewer slots than this reserves no slot for brief work. */
const FEWEST_SLOTS_TO_RESERVE = 3
/** Maximum share of the slots for long work that one client may use. */
const GREATEST_SHARE = 0.75
/**
 * Maximum share of the slots for long work for a client with a backlog, while other clients have long work too. A
 * client has a backlog if it has at least as many waiting requests as there are slots for long work.
 *
 * Measured 2026-11-27, `bench/sustained`, two processors: the p95 of the other clients, divided by their p95 without
 * the client with the backlog, is 5.9 with a share of 0.75, and 3.9 to 4.4 with a share of 0.5. If a client with a
 * backlog may begin only while half of all slots are free, its rate drops, but the p95 of the others stays the same.
 */
const SHARE_BESIDE_OTHERS = 0.5
/** A client counts as alone if no other client has begun long work for this time, ms. */
const ALONE_AFTER_MS = 1_000
/**
 * A burst may last for BURST_REQUESTS mean durations of long work, if that is longer than `maxBurstMs`. With slow
 * requests, a queue takes longer to fill and to empty, also without overload.
 */
const BURST_REQUESTS = 8
/**
 * Under overload, the maximum wait of a request is WAIT_IN_OVERLOAD mean durations of long work. The maximum is never
 * below LEAST_WAIT_MS, because a client does not notice so short a wait.
 */
const WAIT_IN_OVERLOAD = 1
const LEAST_WAIT_MS = 50
/**
 * A client with at least GREEDY_FACTOR times as many waiting requests and delayed refusals as any other client causes the
 * overload alone. Clients that send equally many requests stay below it. A share of all waiting requests would not show
 * such a client: its waiting requests are refused first, when the requests of other clients pile up.
 */
const GREEDY_FACTOR = 3
/**
 * Shortest and longest delay of a refusal, ms. Each delay is drawn at random. With a delay of one second for every
 * refusal, 300 connections of a client sent their next requests at the same moment again and again. The p95 of the
 * other clients was then 50 to 66 ms, and 34 ms with random delays (2026-11-30, `bench/sustained`).
 */
const LEAST_HOLD_MS = 500
const MOST_HOLD_MS = 1_500
/** Maximum number of refusals that are delayed at the same time. Further refusals are sent at once. */
const MOST_HELD = 1_024
/** Weight of the latest duration of long work in the exponential moving average of these durations. */
const NEWEST_WEIGHT = 0.05

/** Limits of requests that use the database. The documentation lists these limits. */
export const databaseLimits: readonly Limit[] = [
  {
    setting: 'max_query_time_ms',
    counts: 'time of all queries of a request, including the wait for a connection, ms',
    per: 'request',
    beyond: '408',
  },
  {
    setting: 'max_db_connections',
    counts: 'requests that use a connection to the database',
    per: 'api',
    beyond: `the request waits; up to ${WAITING_PER_CONNECTION} requests wait for each connection, and further requests get 503 with \`Retry-After\``,
  },
  {
    setting: 'max_list_queries',
    counts: 'requests for lists that use a connection to the database',
    per: 'api',
    value:
      'default: three database connections for every two processors of the server, and at least two for each API process',
    beyond: 'the request waits',
  },
  {
    counts: 'connections for lists',
    per: 'address',
    value: `one address gets at most ${GREATEST_SHARE * 100} % of the connections that an API process uses for lists; at most ${SHARE_BESIDE_OTHERS * 100} % while many requests of the address wait and other addresses request lists, too`,
    beyond: 'the request waits',
  },
  {
    counts: 'refusals of requests for lists that are delayed at the same time',
    per: 'process',
    value: `${countText(MOST_HELD)} refusals, each delayed by ${secondsText(LEAST_HOLD_MS)} to ${secondsText(MOST_HOLD_MS)}`,
    beyond: 'the refusal is sent at once',
  },
  {
    counts: 'wait for a connection to the database',
    per: 'request',
    value: secondsText(MAX_WAIT_MS),
    beyond: `503 with \`Retry-After\`; under overload, the maximum wait is shorter. Overload: for ${secondsText(MAX_BURST_MS)}, more clients have waited than there are connections for lists`,
  },
]

/**
 * Queue for database connections (slots) that clients share fairly.
 *
 * - The next free slot goes to the waiting client with the fewest running requests.
 * - Brief work has priority over long work. Some slots are reserved for brief work.
 * - No client gets all slots for long work, unless there is only one such slot.
 * - If the queue is full, the newest request of the client with the most waiting requests is refused.
 * - During a burst requests wait. Under overload, requests that cannot start soon are refused, so that admitted
 *   requests do not wait long.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits
  readonly #longSlots: number
  /** Maximum number of slots for long work of one client, if the client is alone. */
  readonly #longOfOne: number
  /** Maximum number of slots for long work of one client with a backlog, while other clients have long work. */
  readonly #longBesideOthers: number
  /** Client that last began long work. */
  #lastLong: string | undefined
  /** Time when a client last began long work after long work of a different client, ms. */
  #lastChangeMs = -Infinity
  /** Clients with running or waiting requests, the client whose request started longest ago first. */
  readonly #clients = new Map<string, Client>()
  #running = 0
  #long = 0
  #waiting = 0
  #waitingClients = 0
  /**
   * Time when the number of waiting clients first exceeded the number of slots for long work; undefined before. Reset
   * to undefined when a client begins to wait after the queue was empty for longer than `#meanMs`.
   */
  #contendedSinceMs: number | undefined
  #emptySinceMs = 0
  /** Moving average of the time that long work holds a slot, ms. */
  #meanMs = 0
  /** Number of delayed refusals that are not sent yet. */
  #held = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
    const { slots } = limits
    const reserved = slots < FEWEST_SLOTS_TO_RESERVE ? 0 : Math.ceil(slots / SLOTS_FOR_A_RESERVED)
    this.#longSlots = Math.min(limits.longSlots, slots - reserved)
    this.#longOfOne = Math.max(1, Math.floor(this.#longSlots * GREATEST_SHARE))
    this.#longBesideOthers = Math.max(1, Math.floor(this.#longSlots * SHARE_BESIDE_OTHERS))
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Waits for a slot.
   * @throws RetryableError `DATABASE_BUSY` if the queue is full or no slot becomes free in time, `CLIENT_GONE` if the
   * client disconnects.
   */
  enter(scope: WorkScope): Promise<Leave> {
    let client = this.#clients.get(scope.client)
    if (!client) this.#clients.set(scope.client, (client = { running: 0, long: 0, held: 0, waiting: [] }))
    if (scope.departure?.hasHappened) return Promise.reject(clientGone())
    if (this.#mayRun(client, scope)) return Promise.resolve(this.#start(client, scope))
    if (this.#waiting >= this.#limits.maxWaiting && !this.#makeRoom(client)) {
      this.#forgetIdle(client, scope.client)
      return Promise.reject(tooBusy(`${this.#waiting} requests wait for a database connection`))
    }
    return this.#wait(client, scope)
  }

  /**
   * Refuses long work of a client if the queue is full and the client has the most waiting requests. The refusal is
   * delayed, so that a client that waits for its answers sends fewer requests.
   * @returns a promise that resolves when the refusal shall be sent; undefined if the work is not refused.
   */
  turnAway(name: string): Promise<void> | undefined {
    if (this.#waiting < this.#limits.maxWaiting) return undefined
    const client = this.#clients.get(name)
    if (!client || client.waiting.length < this.#longSlots || this.#longerThan(client)) return undefined
    return this.#held < MOST_HELD ? this.#hold(name, client) : Promise.resolve()
  }

  #hold(name: string, client: Client): Promise<void> {
    this.#held++
    client.held++
    return new Promise((resolve) => {
      setTimeout(
        () => {
          this.#held--
          client.held--
          this.#forgetIdle(client, name)
          resolve()
        },
        LEAST_HOLD_MS + Math.random() * (MOST_HOLD_MS - LEAST_HOLD_MS),
      )
    })
  }

  #wait(client: Client, scope: WorkScope): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        scope.departure?.remove(onGone)
        this.#waiting--
        if (client.waiting.length === 0 && --this.#waitingClients === 0)
          this.#emptySinceMs = performance.now()
      }
      const sinceMs = performance.now()
      const entry: Waiting = {
        scope,
        sinceMs,
        enter: (leave) => {
          end()
          resolve(leave)
        },
        refuse: (error) => {
          client.waiting.splice(client.waiting.indexOf(entry), 1)
          end()
          this.#forgetIdle(client, scope.client)
          reject(error)
        },
      }
      const onGone = (): void => {
        entry.refuse(clientGone())
      }
      const leftMs = scope.deadlineMs - sinceMs
      const waitMs = scope.client === SERVER_ITSELF ? leftMs : Math.min(this.#maxWaitMs(sinceMs), leftMs)
      const timer = setTimeout(() => {
        entry.refuse(tooBusy(`no database connection was free for ${Math.round(waitMs)} ms`))
      }, waitMs)
      scope.departure?.add(onGone)
      this.#waiting++
      if (client.waiting.push(entry) === 1) this.#noteWaitingClient(sinceMs)
    })
  }

  #noteWaitingClient(nowMs: number): void {
    this.#waitingClients++
    if (this.#waitingClients === 1 && nowMs - this.#emptySinceMs > this.#meanMs) {
      this.#contendedSinceMs = undefined
    }
    if (this.#waitingClients > this.#longSlots) this.#contendedSinceMs ??= nowMs
  }

  #forgetIdle(client: Client, name: string): void {
    if (client.running === 0 && client.waiting.length === 0 && client.held === 0) this.#clients.delete(name)
  }

  /**
   * Whether a request may start now. A client has fewer slots for long work if it has a backlog and other clients have
   * long work.
   */
  #mayRun({ long, waiting }: Client, { isBrief }: WorkScope): boolean {
    if (this.#running >= this.#limits.slots) return false
    if (isBrief) return true
    const isAlone = performance.now() - this.#lastChangeMs >= ALONE_AFTER_MS
    const isBacklog = waiting.length >= this.#longSlots
    const most = isBacklog && !isAlone ? this.#longBesideOthers : this.#longOfOne
    return this.#long < this.#longSlots && long < most
  }

  #start(client: Client, scope: WorkScope): Leave {
    const long = scope.isBrief ? 0 : 1
    const startedMs = performance.now()
    if (long === 1) {
      if (this.#lastLong !== undefined && this.#lastLong !== scope.client) this.#lastChangeMs = startedMs
      this.#lastLong = scope.client
    }
    this.#running++
    this.#long += long
    client.running++
    client.long += long
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#running--
      this.#long -= long
      client.running--
      client.long -= long
      this.#forgetIdle(client, scope.client)
      if (long === 1) this.#meanMs += (performance.now() - startedMs - this.#meanMs) * NEWEST_WEIGHT
      this.#startNext()
    }
  }

  /**
   * Returns the maximum time that a request waits for a slot, ms. The time is shorter if many clients together cause
   * the overload. If one client sends most of the requests, the time is not shorter, because that client delays mainly
   * itself.
   */
  #maxWaitMs(nowMs: number): number {
    const { maxWaitMs } = this.#limits
    const isOverloaded =
      this.#contendedSinceMs !== undefined && nowMs - this.#contendedSinceMs > this.#burstMs
    if (!isOverloaded || this.#isOneGreedy) return maxWaitMs
    return Math.min(maxWaitMs, Math.max(LEAST_WAIT_MS, WAIT_IN_OVERLOAD * this.#meanMs))
  }

  get #burstMs(): number {
    return Math.max(this.#limits.maxBurstMs, BURST_REQUESTS * this.#meanMs)
  }

  /** Whether one client has GREEDY_FACTOR times as many waiting requests and delayed refusals as any other client. */
  get #isOneGreedy(): boolean {
    let [most, second] = [0, 0]
    for (const { waiting, held } of this.#clients.values()) {
      const requests = waiting.length + held
      if (requests > most) [most, second] = [requests, most]
      else if (requests > second) second = requests
    }
    return most >= GREEDY_FACTOR * second
  }

  /**
   * Refuses the requests that have waited longer than the current maximum. Overload shortens the maximum, so the timers
   * of requests that were queued before the overload are too long.
   */
  #refuseOverdue(): void {
    const nowMs = performance.now()
    const earliestMs = nowMs - this.#maxWaitMs(nowMs)
    for (const [client, { waiting }] of [...this.#clients]) {
      if (client === SERVER_ITSELF) continue
      for (const entry of [...waiting]) {
        if (entry.sinceMs < earliestMs)
          entry.refuse(tooBusy('requests arrive faster than they can be answered'))
      }
    }
  }

  #startNext(): void {
    if (this.#waiting === 0) return
    this.#refuseOverdue()
    for (;;) {
      const next = this.#next(true) ?? this.#next(false)
      if (!next) return
      const { client, entry } = next
      client.waiting.splice(client.waiting.indexOf(entry), 1)
      // Move the client to the end of the Map: among clients with equally many running requests, the least recently
      // served client is next.
      this.#clients.delete(entry.scope.client)
      this.#clients.set(entry.scope.client, client)
      entry.enter(this.#start(client, entry.scope))
    }
  }

  #next(isBrief: boolean): { readonly client: Client; readonly entry: Waiting } | undefined {
    if (this.#waiting === 0 || this.#running >= this.#limits.slots) return undefined
    let best: { readonly client: Client; readonly entry: Waiting } | undefined
    for (const client of this.#clients.values()) {
      if (best && client.running >= best.client.running) continue
      const entry = client.waiting.find(({ scope }) => scope.isBrief === isBrief)
      if (entry && this.#mayRun(client, entry.scope)) best = { client, entry }
    }
    return best
  }

  /**
   * Makes room in the full queue for a request of the client `newcomer`: refuses the newest waiting request of the
   * client with the most waiting requests. Returns false if no client has at least two more waiting requests than
   * `newcomer`.
   */
  #makeRoom(newcomer: Client): boolean {
    const longest = this.#longerThan(newcomer)
    longest?.waiting.at(-1)!.refuse(tooBusy('too many requests of one client wait for a database connection'))
    return longest !== undefined
  }

  /** Returns the client with the most waiting requests, if the client has at least two more of them than `other`. */
  #longerThan(other: Client): Client | undefined {
    let longest = other
    for (const client of this.#clients.values()) {
      if (client.waiting.length > longest.waiting.length) longest = client
    }
    return longest.waiting.length > other.waiting.length + 1 ? longest : undefined
  }
}
