import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SimulatedClock } from '../../../tests/setup/simulated-clock.ts'
import { FairQueue, queueLimits } from './fair-queue.ts'
import type { FairQueueLimits, Leave } from './fair-queue.ts'
import { completeScope, Departure } from './request-session.ts'
import type { WorkScope } from './request-session.ts'

const limits: FairQueueLimits = {
  slots: 10,
  longSlots: 4,
  maxWaiting: 100,
  maxWaitMs: 1_000,
  maxBurstMs: 300,
}

/** A queue that records the names of admitted and refused clients, in order. */
function watched(changed: Partial<FairQueueLimits> = {}) {
  const queue = new FairQueue({ ...limits, ...changed })
  const entered: string[] = []
  const refused: string[] = []
  const leaves = new Map<string, Leave>()
  const enter = (client: string, name = client, more: Partial<WorkScope> = {}): void => {
    queue.enter(completeScope({ client, ...more }, 60_000)).then(
      (leave) => {
        entered.push(name)
        leaves.set(name, leave)
      },
      (error: unknown) => refused.push(`${name} ${(error as { code?: string }).code ?? ''}`),
    )
  }
  const leave = async (name: string): Promise<void> => {
    leaves.get(name)!()
    await vi.advanceTimersByTimeAsync(0)
  }
  const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)
  return { queue, entered, refused, enter, leave, settle }
}

describe('the slots of a pool', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('the slots of a pool are shared between clients; a free slot goes to the waiting client with the fewest slots', async () => {
    const { queue, entered, enter, leave, settle } = watched()
    for (const at of [1, 2, 3, 4, 5, 6]) enter('many', `many ${at}`)
    await settle()
    expect(entered).toEqual(['many 1', 'many 2', 'many 3'])
    enter('few')
    await settle()
    expect(entered.at(-1)).toBe('few')
    enter('other')
    await leave('many 1')
    expect(entered.at(-1)).toBe('other')
    for (const name of ['few', 'other', 'many 2', 'many 3']) await leave(name)
    expect(entered.slice(5)).toEqual(['many 4', 'many 5', 'many 6'])
    for (const name of ['many 4', 'many 5', 'many 6']) await leave(name)
    expect([queue.running, queue.waiting]).toEqual([0, 0])
  })

  it('a client with many waiting requests gets at most half of the slots of a pool while other clients use the pool, else at most three quarters', async () => {
    const { entered, enter, leave, settle } = watched({ maxWaitMs: 5_000 })
    for (let at = 1; at <= 12; at++) enter('many', `many ${at}`)
    enter('few')
    await settle()
    expect(entered).toEqual(['many 1', 'many 2', 'many 3', 'few'])
    await leave('many 1')
    await leave('few')
    expect(entered).toHaveLength(4)
    await leave('many 2')
    expect(entered.slice(4)).toEqual(['many 4'])
    await vi.advanceTimersByTimeAsync(999)
    await leave('many 3')
    expect(entered.slice(5)).toEqual(['many 5'])
    await vi.advanceTimersByTimeAsync(1)
    await leave('many 4')
    expect(entered.slice(6)).toEqual(['many 6', 'many 7'])
  })

  it('some slots of a pool are reserved for brief work, and brief work gets a free slot first', async () => {
    const { entered, enter, leave, settle } = watched({ longSlots: 10 })
    for (const client of 'abcdefghijkl') enter(client)
    await settle()
    expect(entered).toHaveLength(9)
    enter('z', 'brief 1', { isBrief: true })
    enter('z', 'brief 2', { isBrief: true })
    await settle()
    expect(entered.slice(9)).toEqual(['brief 1'])
    await leave('a')
    expect(entered.slice(9)).toEqual(['brief 1', 'brief 2'])
  })

  it('a pool gives no slot to a disconnected client or to a request whose deadline has passed', async () => {
    const { queue, refused, enter, settle } = watched({ slots: 1, longSlots: 1 })
    const gone = new Departure()
    enter('runs')
    enter('gone', 'gone', { departure: gone })
    enter('late', 'late', { deadlineMs: performance.now() + 100 })
    enter('patient')
    await settle()
    gone.happen()
    await settle()
    expect(refused).toEqual(['gone CLIENT_GONE'])
    await vi.advanceTimersByTimeAsync(100)
    expect(refused).toEqual(['gone CLIENT_GONE', 'late DATABASE_BUSY'])
    await vi.advanceTimersByTimeAsync(900)
    expect(refused.at(-1)).toBe('patient DATABASE_BUSY')
    expect(queue.waiting).toBe(0)
    enter('gone', 'came too late', { departure: gone })
    await settle()
    expect(refused.at(-1)).toBe('came too late CLIENT_GONE')
  })

  it("the server's own work waits for a slot until its deadline", async () => {
    const { entered, refused, enter, leave, settle } = watched({ slots: 1, longSlots: 1 })
    enter('runs')
    enter('', 'itself', { deadlineMs: performance.now() + 5_000 })
    enter('patient')
    await settle()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(refused).toEqual(['patient DATABASE_BUSY'])
    await leave('runs')
    expect(entered).toEqual(['runs', 'itself'])
  })

  it('when too many requests wait, new requests of the client with the most waiting requests are refused', async () => {
    const { refused, enter, settle } = watched({ slots: 1, longSlots: 1, maxWaiting: 4 })
    enter('runs')
    for (const at of [1, 2, 3, 4]) enter('many', `many ${at}`)
    enter('few')
    await settle()
    expect(refused).toEqual(['many 4 DATABASE_BUSY'])
    enter('many', 'many 5')
    await settle()
    expect(refused.at(-1)).toBe('many 5 DATABASE_BUSY')
  })

  it('a full queue turns away long work of the client with the most waiting requests, and of no other client', async () => {
    const { queue, enter, leave, settle } = watched({ slots: 3, longSlots: 2, maxWaiting: 6 })
    for (let at = 1; at <= 4; at++) enter('many', `many ${at}`)
    for (const client of ['few', 'few', 'other']) enter(client)
    await settle()
    const refused = () =>
      ['many', 'few', 'other', 'new'].filter((client) => queue.turnAway(client) !== undefined)
    expect([queue.waiting, refused()]).toEqual([5, []])
    enter('many', 'many 5')
    await settle()
    expect([queue.waiting, refused()]).toEqual([6, ['many']])
    await leave('many 1')
    expect([queue.waiting, refused()]).toEqual([5, []])
  })

  it('a full queue delays a refusal by 0.5 to 1.5 s, so that a client with few connections sends fewer requests', async () => {
    const { queue, enter, settle } = watched({ slots: 1, longSlots: 1, maxWaiting: 2 })
    for (let at = 1; at <= 3; at++) enter('many', `many ${at}`)
    await settle()
    const sent: number[] = []
    for (let at = 1; at <= 1_100; at++) void queue.turnAway('many')!.then(() => sent.push(at))
    await settle()
    expect(sent).toHaveLength(76)
    await vi.advanceTimersByTimeAsync(499)
    expect(sent).toHaveLength(76)
    await vi.advanceTimersByTimeAsync(500)
    expect(sent.length).toBeGreaterThan(300)
    expect(sent.length).toBeLessThan(900)
    await vi.advanceTimersByTimeAsync(501)
    expect(sent).toHaveLength(1_100)
  })

  it('the queue of a pool lets a short burst wait, but refuses the longest waiting requests under constant overload', async () => {
    const { entered, refused, enter, leave, settle } = watched({ slots: 1, longSlots: 1, maxWaitMs: 1_000 })
    for (const client of 'abcdefgh') enter(client)
    await settle()
    for (const client of 'abcd') {
      await vi.advanceTimersByTimeAsync(50)
      await leave(client)
    }
    expect([entered.join(''), refused]).toEqual(['abcde', []])
    await vi.advanceTimersByTimeAsync(200)
    enter('new')
    await leave('e')
    expect(refused).toEqual(['f', 'g', 'h'].map((client) => `${client} DATABASE_BUSY`))
    expect(entered.at(-1)).toBe('new')
  })
})

/** Deterministic pseudo-random numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Outcome {
  readonly waitsMs: number[]
  refused: number
}

interface SimulatedLoad {
  readonly perSecond: number
  readonly meanMs: number
  readonly seconds: number
  /** Length of each simulated pause of the database, ms. No request finishes during the pause. */
  readonly pauseMs?: number
  /** Time from the start of one pause to the start of the next pause, ms. */
  readonly pausesEveryMs?: number
}

/**
 * Simulates list requests on two cores: three run at once, requests arrive at random times, each from one of the
 * clients.
 */
async function simulate(
  clock: SimulatedClock,
  { perSecond, meanMs, seconds, pauseMs = 0, pausesEveryMs = 10_000 }: SimulatedLoad,
  pickClient: (random: () => number) => string,
): Promise<Map<string, Outcome>> {
  const random = createRandom(7)
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean
  const queue = new FairQueue(queueLimits(50, 3))
  const outcomes = new Map<string, Outcome>()
  for (const endMs = performance.now() + seconds * 1_000; performance.now() < endMs;) {
    await clock.advance(exponential(1_000 / perSecond))
    const client = pickClient(random)
    const outcome = outcomes.get(client) ?? { waitsMs: [], refused: 0 }
    outcomes.set(client, outcome)
    if (queue.turnAway(client) !== undefined) {
      outcome.refused++
      continue
    }
    const startedMs = performance.now()
    queue.enter(completeScope({ client }, 10_000)).then(
      (leave) => {
        outcome.waitsMs.push(performance.now() - startedMs)
        const ownMs = exponential(meanMs)
        const pausedForMs = (performance.now() + ownMs) % pausesEveryMs
        setTimeout(leave, ownMs + Math.max(0, pauseMs - pausedForMs))
      },
      () => outcome.refused++,
    )
  }
  return outcomes
}

const percentile95 = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length * 0.95)]!

describe('list requests on two cores', () => {
  let clock: SimulatedClock
  beforeEach(() => {
    clock = new SimulatedClock()
    clock.install()
  })
  afterEach(() => void vi.unstubAllGlobals())

  it.each([100, 250, 400])(
    'on two cores, all list requests are answered at four requests a second, if a request takes %i ms on average',
    async (meanMs) => {
      const outcomes = await simulate(
        clock,
        { perSecond: 4, meanMs, seconds: 600 },
        (random) => `client ${Math.floor(random() * 40)}`,
      )
      const all = [...outcomes.values()]
      expect(all.reduce((sum, { refused }) => sum + refused, 0)).toBe(0)
      expect(all.reduce((sum, { waitsMs }) => sum + waitsMs.length, 0)).toBeGreaterThan(2_000)
    },
  )

  it('list requests at half the sustainable rate are all answered, although the database pauses for half a second in every ten seconds', async () => {
    const outcomes = await simulate(
      clock,
      { perSecond: 300, meanMs: 5, seconds: 120, pauseMs: 500 },
      (random) => `client ${Math.floor(random() * 49)}`,
    )
    expect([...outcomes.values()].reduce((sum, { refused }) => sum + refused, 0)).toBe(0)
  })

  it('at three times the sustainable rate, list requests that are not refused wait less than 300 ms (p95)', async () => {
    const outcomes = await simulate(
      clock,
      { perSecond: 90, meanMs: 100, seconds: 120 },
      (random) => `client ${Math.floor(random() * 500)}`,
    )
    const all = [...outcomes.values()]
    const waits = all.flatMap(({ waitsMs }) => waitsMs)
    expect(waits.length / 120).toBeGreaterThan(25)
    expect(percentile95(waits)).toBeLessThan(300)
  })

  const greedyLoads = [
    { perSecond: 90, meanMs: 100, seconds: 120 },
    { perSecond: 1_300, meanMs: 7, seconds: 4, pauseMs: 500, pausesEveryMs: 2_000 },
  ]
  it.each(greedyLoads)(
    'at three times the sustainable rate ($perSecond requests a second), 80 percent of them from one client, no request of another client is refused',
    async (load) => {
      const outcomes = await simulate(clock, load, (random) =>
        random() < 0.8 ? 'greedy' : `client ${Math.floor(random() * 49)}`,
      )
      const greedy = outcomes.get('greedy')!
      outcomes.delete('greedy')
      const others = [...outcomes.values()]
      expect(others.reduce((sum, { refused }) => sum + refused, 0)).toBe(0)
      expect(percentile95(others.flatMap(({ waitsMs }) => waitsMs))).toBeLessThan(600)
      expect(greedy.refused).toBeGreaterThan(1_000)
    },
  )
})
