import { expect, test } from 'vitest'
import { LagWatch } from './lag-watch.ts'

/**
 * Feeds a watch with samples 100 ms apart: [newest block of the stream, head of the other nodes, bytes read so far].
 */
function watch(
  samples: readonly (readonly [last: number, otherHead: number, bytes: number, expected?: boolean])[],
) {
  const lag = new LagWatch()
  lag.begin(0, 600)
  return samples.map(([last, otherHead, bytesRead, isExpected = true], place) =>
    lag.sample((place + 1) * 100, { last, otherHead, bytesRead, isExpected }),
  )
}
const repeat = <T>(count: number, item: (place: number) => T): T[] =>
  Array.from({ length: count }, (_, place) => item(place))

test('the lag watch reports nothing while each block arrives in time', () => {
  expect(watch(repeat(50, (at) => [at >> 1, (at + 3) >> 1, at * 10])).every((each) => each === null)).toBe(
    true,
  )
})

test('the lag watch reports a stream that is silent while another node has a block', () => {
  const found = watch(repeat(10, () => [5, 6, 100])).find((each) => each !== null)
  expect(found).toMatchObject({ block: 6, isSilent: true })
})

test('the lag watch reports a stream that sends blocks late, but only after the stream was at the head once', () => {
  const late = repeat(40, (at) => [10 + Math.floor(at / 9), 11 + Math.floor(at / 3), at * 50] as const)
  expect(watch([[10, 10, 0], ...late]).find((each) => each !== null)).toMatchObject({ isSilent: false })
  // The stream is catching up: blocks arrive, and the head of the other nodes is far ahead.
  const onTheWay = repeat(40, (at) => [10 + at, 500, at * 50] as const)
  expect(watch(onTheWay).every((each) => each === null)).toBe(true)
})

test('the lag watch reports a stream whose block never completes although bytes arrive', () => {
  const dripping = repeat(60, (at) => [5, 500, at * 3] as const)
  expect(watch(dripping).some((each) => each !== null)).toBe(true)
})

test('the lag watch reports nothing while the stream waits for the pipeline', () => {
  expect(watch(repeat(40, () => [5, 9, 100, false])).every((each) => each === null)).toBe(true)
})

test('the lag watch counts a long interval between two samples only in part', () => {
  for (const allowedMs of [60, 600]) {
    const lag = new LagWatch()
    lag.begin(0, allowedMs)
    const facts = { last: 5, otherHead: 6, bytesRead: 100, isExpected: true }
    const samples = [1, 2, 3, 4].map((seconds) => lag.sample(seconds * 1_000, facts))
    expect(samples.slice(0, 3)).toEqual([null, null, null])
    expect(samples[3]).toMatchObject({ block: 6, isSilent: true })
  }
})
