import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { sealedKinds } from '../index.ts'
import { SealedLines } from './index.ts'

const hashOf = (line: string | Buffer) => createHash('sha256').update(line).digest()
const digestOf = (lines: readonly string[]) => hashOf(Buffer.concat(lines.map(hashOf))).toString('hex')
const kindOf = (name: string) => sealedKinds.find((kind) => kind.name === name)!

it('the digest of rows with equal order keys does not depend on the order in which the rows are read', () => {
  const kind = kindOf('market.logs')
  const equal = ['1\t{"a": 1}\t5\t7', '1\t{"a": 2}\t5\t7', '1\t{"a": 3}\t5\t7']
  const sorted = equal.toSorted((one, other) => Buffer.compare(hashOf(one), hashOf(other)))
  const [first, last] = ['1\t{}\t4\t7', '1\t{}\t6\t7']
  const ranges = [{ firstBlock: 0, rows: 5, digest: digestOf([first, ...sorted, last]) }]
  for (const order of [equal, equal.toReversed()]) {
    const text = Buffer.from([first, ...order, last].map((line) => `${line}\n`).join(''))
    expect(new SealedLines(kind, kind.columns, ranges).read(text)).toBeUndefined()
  }
})

it('rows with different order keys are not reordered by their hash, even if all other columns are equal', () => {
  for (const kind of sealedKinds) {
    const keys = kind.columns.map((column) => kind.order.includes(`t."${column}"`))
    expect(keys.filter((isKey) => isKey)).toHaveLength(kind.order.length)
    const count = kind.columns.indexOf('asset_count')
    const lines = ['1', '2', '3', '4', '5'].map((key) =>
      keys.map((isKey, at) => (isKey ? key : at === count ? '2' : 'x')).join('\t'),
    )
    const ranges = [{ firstBlock: 0, rows: lines.length, digest: digestOf(lines) }]
    const text = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    expect(new SealedLines(kind, kind.columns, ranges).read(text), kind.name).toBeUndefined()
  }
})

it('the comparison of seals names a range with changed, missing or additional rows', () => {
  const kind = kindOf('assets.transfers')
  const lines = [
    '{1}\tsilver\tmemo\tbob\talice\t1',
    '{2}\tsilver\t\\N\tbob\talice\t2',
    '{3}\tgold\t\tbob\talice\t3',
  ]
  const ranges = [
    { firstBlock: 0, rows: 2, digest: digestOf(lines.slice(0, 2)) },
    { firstBlock: 100, rows: 1, digest: digestOf(lines.slice(2)) },
  ]
  const read = (rows: readonly string[]) =>
    new SealedLines(kind, kind.columns, ranges).read(Buffer.from(rows.map((line) => `${line}\n`).join('')))
  expect(read(lines)).toBeUndefined()
  expect(read([lines[0]!, lines[1]!.replace('silver', 'gold'), lines[2]!])?.firstBlock).toBe(0)
  expect(read(lines.slice(0, 2))?.firstBlock).toBe(100)
  expect(read([...lines, lines[2]!])?.firstBlock).toBe(100)
  expect(read([lines[1]!, lines[0]!, lines[2]!])?.firstBlock).toBe(0)
})
