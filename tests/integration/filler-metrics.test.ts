import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { metricCatalogue } from '../../services/core/metrics/index.ts'
import { runFiller } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readMetrics } from '../setup/metrics.ts'
import { startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

const LIB_LAG_BLOCKS = 5
let database: TestDatabase
let running: TestChain
let ending: AbortController
let filler: Promise<void>
let url: string
const lists = createServer((_request, response) => response.end('{"lists":[]}'))

beforeEach(async () => {
  database = await createTestDatabase()
  running = await startChain({
    recordings: ['main', 'v2'],
    libLagBlocks: LIB_LAG_BLOCKS,
    blocks: LIB_LAG_BLOCKS,
    rate: 8,
  })
  await new Promise<void>((resolve) => lists.listen(0, '127.0.0.1', resolve))
  const port = await findFreePort()
  url = `http://127.0.0.1:${port}`
  ending = new AbortController()
  filler = startFiller(port)
})
afterEach(async () => {
  ending.abort()
  await filler
  lists.closeAllConnections()
  await new Promise((resolve) => lists.close(resolve))
  await running.chain.stop()
  await database.drop()
})

function startFiller(port: number): Promise<void> {
  const args = { assets_account: 'atomicassets', store_transfers: true, store_logs: true }
  const { config } = parseConfig({
    connections: {
      sqldb: { ...database.address },
      chain: {
        name: 'test',
        chain_id: running.chain.chainId,
        http: running.httpUrl,
        ship: running.shipUrl,
      },
    },
    readers: [
      {
        name: 'reader-1',
        server_addr: '127.0.0.1',
        server_port: port,
        contracts: [{ handler: 'assets', args }],
        list_polls: [{ url: `http://127.0.0.1:${(lists.address() as AddressInfo).port}/lists` }],
      },
    ],
  })
  const logger = createLogger({ name: 'filler', level: 'silent' })
  return runFiller({ config, logger, signal: ending.signal, disk: tmpdir() })
}

/** Polls the metrics until the series has the value; returns all metrics. */
async function until(series: string, value: number): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const found = await fetch(`${url}/metrics`).then(readMetrics, () => new Map<string, number>())
    if (found.get(series) === value) return found
    await sleep(100)
  }
}

it('the filler serves metrics of its readers and of the polls of named lists', async () => {
  const reader = 'reader="reader-1"'
  const head = running.chain.head().num
  const first = await until(`pronghorn_reader_block{${reader}}`, head)
  expect(first.get(`pronghorn_reader_head_block{${reader}}`)).toBe(head)
  expect(first.get(`pronghorn_reader_blocks_behind{${reader}}`)).toBe(0)
  expect(first.get(`pronghorn_reader_state{${reader},state="live"}`)).toBe(1)
  expect(first.get(`pronghorn_reader_state{${reader},state="catching-up"}`)).toBe(0)
  expect(first.get(`pronghorn_reader_received_blocks_total{${reader}}`)).toBe(head)
  expect(first.get(`pronghorn_reader_received_bytes_total{${reader}}`)).toBeGreaterThan(10_000)
  expect(first.get(`pronghorn_reader_connections_total{${reader}}`)).toBe(1)
  expect(first.get(`pronghorn_reader_rows_total{${reader},table="assets.assets"}`)).toBeGreaterThan(0)
  expect(first.get(`pronghorn_reader_rollbacks_total{${reader}}`)).toBe(0)
  const groups = `pronghorn_reader_commit_blocks_sum{${reader},mode="group"}`
  const singles = `pronghorn_reader_commit_blocks_sum{${reader},mode="single"}`
  expect((first.get(groups) ?? 0) + (first.get(singles) ?? 0)).toBe(head)
  expect(first.get(singles)).toBe(LIB_LAG_BLOCKS)

  running.chain.fork(2, 3)
  running.chain.dropSessions()
  // The reader may receive the fork on its old connection, so wait until it has opened a second one.
  await until(`pronghorn_reader_connections_total{${reader}}`, 2)
  const second = await until(`pronghorn_reader_block{${reader}}`, head + 1)
  expect(second.get(`pronghorn_reader_rollbacks_total{${reader}}`)).toBe(1)
  expect(second.get(`pronghorn_reader_undone_blocks_total{${reader}}`)).toBe(2)
  expect(second.get(singles)).toBe(LIB_LAG_BLOCKS + 3)

  const source = `source="http://127.0.0.1:${(lists.address() as AddressInfo).port}/lists"`
  expect(second.get(`pronghorn_list_polls_total{${source},outcome="unchanged"}`)).toBe(1)
  expect(second.get(`pronghorn_list_items{${source}}`)).toBe(0)
  expect(second.get('process_resident_memory_bytes')).toBeGreaterThan(0)
  for (const name of second.keys()) {
    const family = name.replace(/\{.*/, '').replace(/_(?:bucket|sum|count)$/, '')
    if (family.startsWith('pronghorn_')) expect(Object.keys(metricCatalogue)).toContain(family)
  }
})

it('the filler serves metrics of database size, disk and backups', async () => {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query(
    "SELECT chain.note_task('backup', NULL, 3600), chain.note_task('verify', '2 rows differ')",
  )
  await client.end()
  ending.abort()
  await filler
  ending = new AbortController()
  filler = startFiller(Number(new URL(url).port))
  const found = await until('pronghorn_task_failed{task="verify"}', 1)
  expect(found.get('pronghorn_task_failed{task="backup"}')).toBe(0)
  expect(found.get('pronghorn_task_interval_seconds{task="backup"}')).toBe(3_600)
  const succeeded = found.get('pronghorn_task_last_success_timestamp_seconds{task="backup"}') ?? 0
  expect(Math.abs(Date.now() / 1_000 - succeeded)).toBeLessThan(600)
  expect(found.has('pronghorn_task_last_success_timestamp_seconds{task="verify"}')).toBe(false)
  expect(found.get('pronghorn_database_bytes')).toBeGreaterThan(1_000_000)
  expect(found.get('pronghorn_database_backends')).toBeGreaterThan(0)
  expect(found.get('pronghorn_database_backends_limit')).toBe(200)
  expect(found.get('pronghorn_database_pages_total{source="cache"}')).toBeGreaterThan(0)
  expect(found.get('pronghorn_database_disk_free_bytes')).toBeGreaterThan(0)
  expect(found.get('pronghorn_database_disk_bytes')).toBeGreaterThan(0)
  await expect
    .poll(async () =>
      (await readMetrics(await fetch(`${url}/metrics`))).has(
        'pronghorn_database_table_bytes{table="assets.assets"}',
      ),
    )
    .toBe(true)
})
