import { expect, test } from 'vitest'
import { parseAddress } from './address.ts'
import { createBackoff, sleep } from './backoff.ts'

test('the backoff doubles from the minimum to the maximum and begins again after a reset', () => {
  const backoff = createBackoff(1_000, 60_000, () => 1)
  const delays = Array.from({ length: 9 }, () => backoff.nextDelayMs())
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  backoff.reset()
  expect(backoff.nextDelayMs()).toBe(1_000)
})

test('the backoff spreads each delay over its upper half', () => {
  const low = createBackoff(1_000, 60_000, () => 0)
  expect([low.nextDelayMs(), low.nextDelayMs()]).toEqual([500, 1_000])
  const many = createBackoff(1_000, 60_000, () => 0.5)
  for (let attempt = 0; attempt < 2_000; attempt++) many.nextDelayMs()
  expect(many.nextDelayMs()).toBe(45_000)
})

test('a sleep ends when it is aborted, or was aborted before', async () => {
  const abort = new AbortController()
  const sleeping = sleep(3_600_000, abort.signal)
  abort.abort()
  await sleeping
  await sleep(3_600_000, abort.signal)
})

test('the backoff reads the addresses that a node can have', () => {
  expect(parseAddress('ws://node.example:8080')).toEqual({
    url: 'ws://node.example:8080/',
    socketPath: null,
    label: 'ws://node.example:8080/',
  })
  expect(parseAddress('wss://reader:secret@node.example/ship').label).toBe('wss://node.example/ship')
  expect(parseAddress('ws+unix:///run/nodeos/ship.sock')).toMatchObject({
    socketPath: '/run/nodeos/ship.sock',
  })
  for (const text of ['', 'node:8080', 'http://node.example', 'ws+unix://', '/run/ship.sock']) {
    expect(() => parseAddress(text), text).toThrow(/state-history address/)
  }
})
