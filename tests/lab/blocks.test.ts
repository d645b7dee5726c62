import { expect, test } from 'vitest'
import { transactionsOf, deltasOf, signedBlockOf } from '../devchain/chain-blocks.ts'
import { benchBlocks, denseMix } from '../../scripts/lab/index.ts'
import { createDevchain } from '../../services/devchain/devchain.ts'

const start = { num: 41, id: Buffer.alloc(32, 7), slot: 1_700_000_000 }

test.each([
  ['foreign' as const, 378, 1134, [280_000, 320_000]],
  ['empty' as const, 1, 1, [600, 900]],
])(
  'generated %s blocks can be decoded, and each block links to its parent',
  (kind, transactions, actions, [least, most]) => {
    const blocks = [...benchBlocks(kind, 5, start)]
    blocks.forEach((block, index) => {
      expect(block.num).toBe(42 + index)
      expect(block.prevId).toEqual(index === 0 ? start.id : blocks[index - 1]!.id)
      expect(block.id.readUInt32BE(0)).toBe(block.num)
      const decoded = transactionsOf(block)
      expect(decoded.length).toBe(transactions)
      expect(decoded.flatMap((each) => each.actions).length).toBe(actions)
      expect(signedBlockOf(block)['previous']).toBe(block.prevId!.toString('hex'))
      expect(deltasOf(block).size).toBe(2)
      const size = block.block!.length + block.traces!.length + block.deltas!.length
      expect(size).toBeGreaterThan(least!)
      expect(size).toBeLessThan(most!)
    })
  },
)

test('the first generated block of a benchmark follows the last recorded block', () => {
  const { num, id } = createDevchain().head()
  const devchain = createDevchain({
    append: benchBlocks('empty', 20, { num, id: Buffer.from(id, 'hex'), slot: start.slot }),
  })
  expect(devchain.head().num).toBe(num + 20)
})

test('dense blocks of a benchmark are mostly mints, transfers and edits', () => {
  const devchain = createDevchain({ blocks: 24, rate: 150, mix: denseMix })
  const names = [985, 986, 987, 988].flatMap((num) =>
    transactionsOf(devchain.block(num)!).flatMap(({ actions }) => actions.map(({ act }) => act.name)),
  )
  const share = (name: string): number => names.filter((each) => each === name).length / names.length
  expect(share('logmint')).toBeGreaterThan(0.1)
  expect(share('logtransfer')).toBeGreaterThan(0.05)
  expect(share('logsetdata')).toBeGreaterThan(0.05)
})
