import { expect, it } from 'vitest'
import { createMemoryStore } from '../../core/kvstore/index.ts'
import { createLogger } from '../../core/log/index.ts'
import type { DatabaseView } from './data.ts'
import { cacheSizes } from './cached-sizes.ts'

const logger = createLogger({ name: 'test', level: 'error' })

function view(measured_at: number): DatabaseView {
  const table = { schema: 'assets', name: 'assets', rows: null, table_bytes: '8192', index_bytes: '16384' }
  return { measured_at, total_bytes: '24576', tables: [table] }
}

/**
 * Creates a cache of table sizes with fake measurements. Counts the measurements, and the maximum number of
 * measurements that ran at the same time.
 */
function countedSizes(options: { everyMs?: number; store?: ReturnType<typeof createMemoryStore> } = {}) {
  const counted = { measurements: 0, atOnce: 0, mostAtOnce: 0, fails: false, isAvailable: true }
  const sizes = cacheSizes({
    kvstore: options.store ?? createMemoryStore(logger),
    logger,
    isAvailable: () => counted.isAvailable,
    everyMs: options.everyMs ?? 30_000,
    measure: async () => {
      counted.mostAtOnce = Math.max(counted.mostAtOnce, ++counted.atOnce)
      const number = ++counted.measurements
      await new Promise((resolve) => setImmediate(resolve))
      counted.atOnce--
      if (counted.fails) throw new Error('too slow')
      return view(number)
    },
  })
  return { sizes, counted }
}

it('the cache of table sizes returns null until the first measurement ends, and measures only once for many calls', async () => {
  const { sizes, counted } = countedSizes()
  expect(sizes.current()).toBeNull()
  for (let asked = 0; asked < 100; asked++) sizes.current()
  await sizes.settled()
  for (let asked = 0; asked < 100; asked++) expect(sizes.current()).toEqual(view(1))
  await sizes.settled()
  expect(counted).toMatchObject({ measurements: 1, mostAtOnce: 1 })
})

it('the cache of table sizes measures again when the sizes are too old, and runs only one measurement at a time', async () => {
  const { sizes, counted } = countedSizes({ everyMs: 1 })
  for (let round = 0; round < 20; round++) {
    sizes.current()
    sizes.current()
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  await sizes.settled()
  expect(counted.measurements).toBeGreaterThan(2)
  expect(counted.mostAtOnce).toBe(1)
  expect(sizes.current()).toEqual(view(counted.measurements))
})

it('the cache of table sizes keeps the previous sizes when a measurement fails', async () => {
  const { sizes, counted } = countedSizes({ everyMs: 1 })
  sizes.current()
  await sizes.settled()
  counted.fails = true
  await expect
    .poll(async () => {
      const known = sizes.current()
      await sizes.settled()
      return [counted.measurements > 1, known]
    })
    .toEqual([true, view(1)])
})

it('the cache of table sizes sends no query while the database is unavailable', async () => {
  const { sizes, counted } = countedSizes()
  counted.isAvailable = false
  expect(sizes.current()).toBeNull()
  await sizes.settled()
  expect(counted.measurements).toBe(0)
})

it('the cache of table sizes uses the measurement of another process', async () => {
  const store = createMemoryStore(logger)
  const one = countedSizes({ store })
  const other = countedSizes({ store })
  one.sizes.current()
  await one.sizes.settled()
  other.sizes.current()
  await other.sizes.settled()
  expect(other.sizes.current()).toEqual(view(1))
  expect([one.counted.measurements, other.counted.measurements]).toEqual([1, 0])
})

it('the cache of table sizes does not measure while another process does', async () => {
  const store = createMemoryStore(logger)
  await store.increment('console:sizes:turn', 30_000)
  const { sizes, counted } = countedSizes({ store })
  sizes.current()
  await sizes.settled()
  expect(counted.measurements).toBe(0)
})

it('the cache of table sizes measures again when the shared value is unreadable', async () => {
  for (const text of ['', '{}', '{"measured_at":"yesterday"}']) {
    const store = createMemoryStore(logger)
    await store.set('console:sizes', text, 30_000)
    const { sizes } = countedSizes({ store })
    sizes.current()
    await sizes.settled()
    expect(sizes.current()).toEqual(view(1))
  }
})
