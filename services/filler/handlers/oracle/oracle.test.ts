import { expect, it } from 'vitest'
import { CommitUnit } from '../../store/index.ts'
import type { OracleState } from './state.ts'
import { createOracleHandler } from './index.ts'
import { oracleTables } from '../../../core/model/tables/index.ts'

interface Point {
  readonly id: bigint
  readonly owner: string
  readonly value: bigint
  readonly median: bigint
  readonly timestamp: string
}

const at = (second: number) => `2026-11-20T09:55:${String(second).padStart(2, '0')}.500`
const point = (id: bigint, second: number, median: bigint, owner = 'oracle1'): Point => ({
  id,
  owner,
  value: median,
  median,
  timestamp: second < 0 ? '1970-01-01T00:00:00.000' : at(second),
})

/** Applies a block and returns the pair's new median; undefined if the median did not change. */
function apply(
  state: OracleState,
  points: readonly Point[],
  writes: readonly { owner: string; value: bigint }[] = [],
): { median: unknown; state: OracleState } {
  const unit = new CommitUnit(false)
  const scope = createOracleHandler({ oracle_account: 'oracle' }).open(
    { num: 5, timeMs: 7_000 },
    state,
    unit,
    () => undefined,
  )
  writes.forEach(({ owner, value }, place) =>
    scope.action({
      seq: BigInt(place),
      txIndex: place,
      txid: Buffer.alloc(32),
      ordinal: 1,
      creatorOrdinal: 0,
      name: 'write',
      data: { owner, quotes: [{ value, pair: 'waxpusd' }] },
      packed: Buffer.alloc(0),
      actors: () => [owner],
    }),
  )
  for (const value of points)
    scope.row({
      table: 'datapoints',
      present: true,
      scope: () => 'waxpusd',
      primaryKey: () => value.id,
      value: () => value,
    })
  const after = scope.end()
  const pending = [...unit.tables]
    .find(([table]) => table.name === oracleTables.pairs.name)?.[1]
    .rows.get('waxpusd')
  return { median: pending?.row.median, state: after }
}

const ring: OracleState = {
  rings: new Map([
    ['waxpusd', new Map([1n, 2n, 3n].map((id) => [id, BigInt(Date.parse(`${at(Number(id))}Z`))]))],
  ]),
  precisions: new Map([['waxpusd', 4]]),
}

it.each([
  ['one point', [point(1n, 10, 300n)], [], 300n],
  ['the newest of several points, in any order', [point(2n, 11, 310n), point(1n, 10, 300n)], [], 310n],
  [
    'the last write among points of the same time',
    [point(1n, 10, 300n, 'a'), point(2n, 10, 310n, 'b')],
    [
      { owner: 'b', value: 310n },
      { owner: 'a', value: 300n },
    ],
    300n,
  ],
  [
    'the point that replaced the newest one, among points of the same time without a matching write',
    [point(3n, 10, 330n), point(1n, 10, 300n)],
    [],
    330n,
  ],
  [
    'the point with the highest id, among points of the same time in slots that were empty',
    [point(7n, 10, 330n), point(8n, 10, 340n), point(6n, 10, 320n)],
    [],
    340n,
  ],
  ['no point, if the slots belong to a new ring', [point(4n, -1, 0n), point(5n, -1, 0n)], [], undefined],
  ['no point, if all points are older than the stored ones', [point(1n, 0, 300n)], [], undefined],
] as const)('the stored median of a pair comes from %s', (_, points, writes, median) => {
  expect(apply(ring, points, writes).median).toBe(median)
})

it('a median of an unknown pair is not stored', () => {
  expect(apply({ ...ring, precisions: new Map() }, [point(1n, 10, 300n)]).median).toBeUndefined()
})

it('a median of 0 that the oracle computes is stored as 0', () => {
  expect(apply({ ...ring, rings: new Map() }, [point(1n, 10, 0n)]).median).toBe(0n)
})

it('the oracle handler does not modify the state object from before the block, because a rollback returns to that state', () => {
  const { state } = apply(ring, [point(1n, 20, 300n)])
  expect(state.rings.get('waxpusd')!.get(1n)).toBe(BigInt(Date.parse(`${at(20)}Z`)))
  expect(ring.rings.get('waxpusd')!.get(1n)).toBe(BigInt(Date.parse(`${at(1)}Z`)))
})
