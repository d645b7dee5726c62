import { expect, it } from 'vitest'
import { setAbiAction } from '../../services/devchain/index.ts'
import { TreeGrower } from '../../scripts/lab/block-tree.ts'

const plan = {
  seed: 7,
  length: 6,
  rate: 3,
  lost: [
    { parent: 2, length: 3 },
    { parent: 2, length: 1 },
    { parent: 5, length: 2 },
  ],
}

it('the block tree generates the same main branch twice, and forks at the requested blocks', () => {
  const grower = new TreeGrower()
  const tree = grower.grow(plan)
  grower.grow({ ...plan, seed: 8 })
  expect(grower.grow(plan).main).toEqual(tree.main)
  const chain = [...grower.base, ...tree.main]
  chain.forEach((block, i) => expect(block.prevId).toEqual(chain[i - 1]?.id ?? block.prevId))
  expect(tree.main).toHaveLength(plan.length)
  const ids = new Set(
    [...chain, ...tree.lost.flatMap(({ blocks }) => blocks)].map(({ id }) => id.toString('hex')),
  )
  expect(ids.size).toBe(chain.length + 6)
  tree.lost.forEach(({ parent, blocks }, i) => {
    expect(parent).toBe(grower.base.length + plan.lost[i]!.parent)
    expect(blocks).toHaveLength(plan.lost[i]!.length)
    expect(blocks[0]!.prevId).toEqual(chain[parent - 1]!.id)
  })
})

it('the block tree replaces the content of a block', () => {
  const grower = new TreeGrower()
  const content = (num: number) => (num === 2 ? { rate: 0, expiredTraces: 1_000 } : {})
  const plain = grower.grow({ ...plan, lost: [] })
  const wide = grower.grow({ ...plan, lost: [], content })
  expect(wide.main[0]).toEqual(plain.main[0])
  expect(wide.main[1]!.traces!.length).toBeGreaterThan(60_000)
  // The generator can still build actions of a contract whose account sets a malformed ABI in the first block.
  const malformed = [[setAbiAction('atomicmarket', Buffer.from('no ABI'))]]
  const broken = grower.grow({
    ...{ ...plan, lost: [], rate: 20 },
    content: (num) => (num === 1 ? { rate: 0, transactions: malformed } : {}),
  })
  expect(broken.main).toHaveLength(plan.length)
})
