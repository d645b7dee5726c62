import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { blocksFrom, dumpTables } from '../../tests/devchain/chain-blocks.ts'
import { createDevchain } from './devchain.ts'
import type { Devchain } from './devchain.ts'

let dataFolder: string
const open: Devchain[] = []

beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'devchain-'))
})

afterEach(async () => {
  for (const each of open.splice(0)) await each.stop()
  await rm(dataFolder, { recursive: true })
})

function create(options: Parameters<typeof createDevchain>[0] = {}): Devchain {
  const devchain = createDevchain({ dataFolder, libLagBlocks: 10, ...options })
  open.push(devchain)
  return devchain
}

function idsOf(devchain: Devchain): string[] {
  return blocksFrom(devchain, 960).map((block) => block.id.toString('hex'))
}

async function tablesOf(devchain: Devchain): Promise<string> {
  return dumpTables((await devchain.start()).httpUrl, [
    'atomicassets',
    'atomicmarket',
    'atomictoolsx',
    'delphioracle',
    'eosio.token',
  ])
}

test('a chain with a fork continues at its last block after a restart', async () => {
  const first = create({ blocks: 30 })
  first.fork(7)
  first.generate(5)
  const [ids, tables] = [idsOf(first), await tablesOf(first)]
  await first.stop()

  const second = create({ blocks: 30 })
  expect(idsOf(second)).toEqual(ids)
  expect(await tablesOf(second)).toBe(tables)
  second.generate(20)
  expect(idsOf(second).slice(0, ids.length)).toEqual(ids)
  expect(second.head().num).toBe(first.head().num + 20)
})

test('generated accounts and collections are restored after a restart', async () => {
  const first = create({ blocks: 60 })
  await first.stop()
  const second = create()
  second.generate(30)
  const url = (await second.start()).httpUrl
  const response = await fetch(`${url}/v1/chain/get_table_by_scope?code=atomicassets&table=collections`)
  const { rows } = (await response.json()) as { rows: { count: number }[] }
  // The recordings have eight collections, and the first run generates at least three. A restarted chain that did not
  // recognise these three would generate three more, and so reach the limit.
  expect(rows[0]?.count).toBeLessThan(8 + 3 + 3)
})

test('the block log drops an incomplete record at its end', async () => {
  const first = create({ blocks: 10 })
  const head = first.head()
  await first.stop()
  const path = join(dataFolder, 'blocks.log')
  const { size } = await stat(path)
  await truncate(path, size - 5)
  const second = create()
  expect(second.head().num).toBe(head.num - 1)
  second.generate(3)
  const ids = idsOf(second)
  await second.stop()
  expect(idsOf(create())).toEqual(ids)
})

test('the block log changes no foreign file in its folder, even a file with the name of the log', async () => {
  const foreign = join(dataFolder, 'notes.txt')
  await writeFile(foreign, 'mine')
  await create({ blocks: 3 }).stop()
  await create().stop()
  expect(await readFile(foreign, 'utf8')).toBe('mine')
  const log = join(dataFolder, 'blocks.log')
  for (const text of ['2026-11-28 begin\n', 'x']) {
    await writeFile(log, text)
    expect(() => create()).toThrow(/blocks\.log/)
    expect(await readFile(log, 'utf8')).toBe(text)
  }
})

test('the block log of another chain is refused, and so is a damaged block log', async () => {
  await create({ blocks: 3 }).stop()
  expect(() => create({ recordings: ['main'] })).toThrow(/blocks\.log/)
  await appendFile(join(dataFolder, 'blocks.log'), Buffer.from([6, 0, 0, 0, 1, 2, 3, 4, 5, 6]))
  expect(() => create()).toThrow(/damaged/)
})
