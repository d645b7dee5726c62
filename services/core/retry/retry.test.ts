import { describe, expect, test } from 'vitest'
import { Backoff } from './backoff.ts'
import { pause } from './pause.ts'
import { retry } from './retry.ts'

describe('a back-off', () => {
  test('the back-off doubles from the first delay to the longest, and restarts after a reset', () => {
    const backoff = new Backoff({ firstMs: 1_000, longestMs: 60_000 })
    const delays = Array.from({ length: 9 }, () => backoff.nextDelayMs())
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    backoff.reset()
    expect(backoff.nextDelayMs()).toBe(1_000)
  })

  test('the back-off stays at the first delay if no longest delay is set', () => {
    const backoff = new Backoff({ firstMs: 500 })
    expect([backoff.nextDelayMs(), backoff.nextDelayMs()]).toEqual([500, 500])
  })

  test('the back-off randomizes part of each delay', () => {
    const low = new Backoff({ firstMs: 1_000, longestMs: 60_000, jitter: 0.5, random: () => 0 })
    expect([low.nextDelayMs(), low.nextDelayMs()]).toEqual([500, 1_000])
    const many = new Backoff({ firstMs: 1_000, longestMs: 60_000, jitter: 0.5, random: () => 0.5 })
    for (let attempt = 0; attempt < 2_000; attempt++) many.nextDelayMs()
    expect(many.nextDelayMs()).toBe(45_000)
  })
})

test('a pause ends when it is aborted, also if aborted before it began', async () => {
  const abort = new AbortController()
  const pausing = pause(3_600_000, abort.signal)
  abort.abort()
  expect(await pausing).toBe(false)
  expect(await pause(3_600_000, abort.signal)).toBe(false)
  expect(await pause(1)).toBe(true)
})

describe('retry', () => {
  const failing = (times: number) => {
    let calls = 0
    return {
      task: () => {
        calls++
        return calls <= times ? Promise.reject(new Error(`failure ${calls}`)) : Promise.resolve('done')
      },
      calls: () => calls,
    }
  }

  test('a failing task is retried until the task succeeds, with growing delays', async () => {
    const { task } = failing(3)
    const delays: number[] = []
    const done = await retry(task, {
      firstMs: 1,
      longestMs: 2,
      onFailure: (_error, _failures, delayMs) => delays.push(delayMs),
    })
    expect(done).toBe('done')
    expect(delays).toEqual([1, 2, 2])
  })

  test('a failing task runs at most the configured number of times', async () => {
    const { task, calls } = failing(9)
    await expect(retry(task, { firstMs: 1, attempts: 3 })).rejects.toThrow('failure 3')
    expect(calls()).toBe(3)
  })

  test('a failing task is not retried when the next delay would pass the time limit', async () => {
    const { task } = failing(9)
    await expect(retry(task, { firstMs: 3_600_000, withinMs: 1_000 })).rejects.toThrow('failure 1')
  })

  test('a task is not retried after a permanent error', async () => {
    const { task } = failing(9)
    const settings = { firstMs: 1, mayPass: (error: unknown) => !String(error).includes('failure 2') }
    await expect(retry(task, settings)).rejects.toThrow('failure 2')
  })

  test('a failing task is retried until the signal aborts', async () => {
    const { task } = failing(9)
    const abort = new AbortController()
    const onFailure = () => setImmediate(() => abort.abort())
    const retrying = retry(task, { firstMs: 3_600_000, signal: abort.signal, onFailure })
    await expect(retrying).rejects.toThrow('failure 1')
  })
})
