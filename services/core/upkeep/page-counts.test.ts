import { expect, it } from 'vitest'
import { HitShare } from './page-counts.ts'

it('the hit share covers the last minute', () => {
  const hits = new HitShare()
  expect(hits.share).toBeNull()
  hits.note({ cached: 1_000, read: 1_000 }, 0)
  expect(hits.share).toBeNull()
  hits.note({ cached: 1_000, read: 1_000 }, 1_000)
  expect(hits.share).toBeNull()
  hits.note({ cached: 1_090, read: 1_010 }, 30_000)
  expect(hits.share).toBe(0.9)
  hits.note({ cached: 1_110, read: 1_090 }, 61_000)
  expect(hits.share).toBe(0.55)
  hits.note({ cached: 1_110, read: 1_190 }, 120_000)
  expect(hits.share).toBeCloseTo(20 / 200)
})

it('the hit share restarts after the counts were reset', () => {
  const hits = new HitShare()
  hits.note({ cached: 1_000, read: 1_000 }, 0)
  hits.note({ cached: 10, read: 0 }, 1_000)
  expect(hits.share).toBeNull()
  hits.note({ cached: 13, read: 1 }, 2_000)
  expect(hits.share).toBe(0.75)
})
