import { expect, it } from 'vitest'
import { HitShare } from './page-counts.ts'

it('the buffer cache hit share covers the page reads of the last minute', () => {
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

it('the buffer cache hit share is computed anew after PostgreSQL reset its counts', () => {
  const hits = new HitShare()
  hits.note({ cached: 1_000, read: 1_000 }, 0)
  hits.note({ cached: 10, read: 0 }, 1_000)
  expect(hits.share).toBeNull()
  hits.note({ cached: 13, read: 1 }, 2_000)
  expect(hits.share).toBe(0.75)
})
