import { afterEach, expect, test } from 'vitest'
import { blocksFrom, dumpTables, transactionsOf } from '../../tests/devchain/chain-blocks.ts'
import { ShipClient } from '../../tests/devchain/ship-client.ts'
import type { Result } from '../../tests/devchain/ship-client.ts'
import { rounds } from '../../tests/setup/rounds.ts'
import { createDevchain } from './devchain.ts'
import type { Devchain } from './devchain.ts'
import type { DevchainOptions } from './options.ts'

const open: (Devchain | ShipClient)[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await (each instanceof ShipClient ? each.close() : each.stop())
})

async function follow(options: DevchainOptions, start = 965): Promise<[Devchain, ShipClient]> {
  const devchain = createDevchain(options)
  const client = await ShipClient.open((await devchain.start()).shipUrl)
  open.push(devchain, client)
  client.request({ start })
  await client.untilBlock(devchain.head().num)
  return [devchain, client]
}

/** Applies results like a client: a repeated block number undoes all blocks from there on. */
function branchOf(results: readonly Result[]): Result[] {
  const branch: Result[] = []
  for (const result of results) {
    const at = branch.findIndex(({ num }) => num === result.num)
    if (at !== -1) branch.length = at
    branch.push(result)
  }
  return branch
}

function expectLinked(branch: readonly Result[]): void {
  branch.forEach((result, index) => {
    if (index > 0) {
      expect(result.num).toBe(branch[index - 1]!.num! + 1)
      expect(result.prevId).toBe(branch[index - 1]!.id)
    }
  })
}

test('after a fork, a client receives all blocks of the new branch, from the first block that the fork replaced', async () => {
  const [devchain, client] = await follow({ blocks: 20, libLagBlocks: 15 })
  const before = devchain.head()
  const lib = devchain.lib().num
  client.results.length = 0
  devchain.fork(6)
  await client.untilBlock(devchain.head().num)
  expect(client.results.map(({ num }) => num)).toEqual([979, 980, 981, 982, 983, 984, 985])
  expect(client.results.map(({ head }) => head)).toEqual([979, 980, 981, 982, 983, 984, 985])
  expect(client.results[0]?.prevId).toBe(devchain.block(978)!.id.toString('hex'))
  expect(devchain.block(before.num)!.id.toString('hex')).not.toBe(before.id)
  expect(devchain.lib().num).toBeGreaterThanOrEqual(lib)
})

test('the two branches of a fork have no transaction in common', () => {
  const devchain = createDevchain({ blocks: 30, libLagBlocks: 20, rate: 10 })
  const idsOf = (): string[] =>
    blocksFrom(devchain, 990).flatMap((block) =>
      transactionsOf(block)
        .slice(1)
        .map(({ id }) => id),
    )
  const before = idsOf()
  devchain.fork(5)
  const after = new Set(idsOf())
  expect(before.length).toBeGreaterThan(10)
  expect(before.filter((id) => after.has(id))).toEqual([])
})

test('a fork of irreversible blocks is refused, and so is a branch shorter than the replaced branch', () => {
  const devchain = createDevchain({ blocks: 20, libLagBlocks: 4 })
  const head = devchain.head()
  expect(() => devchain.fork(5)).toThrow(/4 are reversible/)
  expect(() => devchain.fork(3, 2)).toThrow(/must be longer/)
  expect(devchain.head()).toEqual(head)
  devchain.fork(4)
  expect(devchain.head().num).toBe(head.num + 1)
})

test('a fork that would undo recorded blocks is refused', () => {
  const devchain = createDevchain({ libLagBlocks: 30 })
  expect(() => devchain.fork(1)).toThrow(/0 are reversible/)
  devchain.generate(2)
  expect(() => devchain.fork(3)).toThrow(/2 are reversible/)
})

const FORKS = rounds(100, 300)

test(`${FORKS} random forks end with the same chain as a replay of only the final branch`, async () => {
  const options = { blocks: 40, libLagBlocks: 20, rate: 3, seed: 11 }
  const [devchain, client] = await follow(options)
  let state = 12345
  const below = (count: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state % count
  }
  for (let forks = 0; forks < FORKS; forks++) {
    const depth = 1 + below(15)
    devchain.fork(depth, depth + 1 + below(2))
    devchain.generate(below(3))
    if (forks % 50 === 0) await client.untilBlock(devchain.head().num)
  }
  await client.untilBlock(devchain.head().num)
  const branch = branchOf(client.results)
  expectLinked(branch)
  expect(branch.map(({ id }) => id)).toEqual(
    blocksFrom(devchain, 965).map((block) => block.id.toString('hex')),
  )

  const straight = createDevchain()
  for (const block of blocksFrom(devchain, 965)) straight.append(block)
  open.push(straight)
  const urls = [await devchain.start(), await straight.start()].map(({ httpUrl }) => httpUrl)
  const [forked, replayed] = await Promise.all(
    urls.map((url) =>
      dumpTables(url, ['atomicassets', 'atomicmarket', 'atomictoolsx', 'delphioracle', 'eosio.token']),
    ),
  )
  expect(forked).toBe(replayed)
})

test('a chain with a fork probability forks at random while it produces blocks', async () => {
  const [devchain, client] = await follow({ blocks: 10, libLagBlocks: 8, forks: 0.3 })
  for (let made = 0; made < 60; made++) {
    devchain.produceBlock()
    await client.untilBlock(devchain.head().num)
  }
  const rewinds = client.results.filter((result, i) => i > 0 && result.num! <= client.results[i - 1]!.num!)
  expect(rewinds.length).toBeGreaterThan(3)
  expectLinked(branchOf(client.results))
})

test('a client without credits receives the new branch of a fork from its first block once the client has credits, except with the fault `loseRewinds`', async () => {
  for (const loseRewinds of [undefined, 'without-credit'] as const) {
    const devchain = createDevchain({
      blocks: 20,
      libLagBlocks: 15,
      faults: () => (loseRewinds === undefined ? {} : { loseRewinds }),
    })
    const client = await ShipClient.open((await devchain.start()).shipUrl)
    open.push(devchain, client)
    client.request({ start: 965, credits: 20 })
    await client.untilBlock(984)
    devchain.fork(5, 8)
    client.ack(100)
    await client.untilBlock(devchain.head().num)
    const next = client.results[20]
    if (loseRewinds === undefined) expect(next?.num).toBe(980)
    else {
      expect(next?.num).toBe(985)
      expect(next?.prevId).not.toBe(client.results[19]?.id)
    }
  }
})

test('a client whose request names blocks of an undone branch receives the new branch from the fork point on', async () => {
  const [devchain, client] = await follow({ blocks: 20, libLagBlocks: 15 })
  const known = client.results.slice(-12).map(({ num, id }) => ({ num: num!, id: id! }))
  await client.close()
  devchain.fork(5)
  const again = await ShipClient.open((await devchain.start()).shipUrl)
  open.push(again)
  again.request({ start: 985, positions: known })
  await again.untilBlock(devchain.head().num)
  expect(again.results[0]?.num).toBe(980)
})
