import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FairQueue } from './fair-queue.ts'
import type { FairQueueLimits, Leave } from './fair-queue.ts'
import { completeScope, Departure } from './scope.ts'
import type { WorkScope } from './scope.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const limits: FairQueueLimits = {
  slots: 10,
  longSlots: 4,
  maxWaiting: 100,
  maxWaitMs: 1_000,
  maxBurstMs: 300,
}

/** A queue, and the names of those who were let in or refused, in their order. */
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
  it('the slots of a pool are shared between clients; the next one goes to the client with the fewest', async () => {
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

  it('the slots of a pool are reserved for brief work, which has priority', async () => {
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

  it('the slots of a pool are not waited for by disconnected clients, or beyond the deadline', async () => {
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

  it('the slots of a pool are waited for by the server itself as long as there is time', async () => {
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

  it('the slots of a pool are refused to the client with the most waiting, when too many wait', async () => {
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

  it('the slots of a pool let a burst wait, and refuse soon what comes while more comes than can be done', async () => {
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
