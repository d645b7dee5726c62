import { expect, it } from 'vitest'
import { snapshotOf } from './snapshot.ts'

const RUN = '2026-01-01 00:00:00.5+00'

it.each([
  ['10:10:', '10:'],
  // A running transaction is equivalent to one that has not begun.
  ['10:11:10', '10:'],
  ['10:13:10,11,12', '10:'],
  ['10:13:10,12', '12:10'],
  ['9:13:9,12', '12:9'],
  ['9:14:9,12', '14:9,12'],
  [
    '18446744073709551000:18446744073709551002:18446744073709551000',
    '18446744073709551002:18446744073709551000',
  ],
])('the snapshot %s', (text, snapshot) => {
  expect(snapshotOf(`${RUN} ${text}`)).toBe(`${RUN} ${snapshot}`)
})

it('a snapshot is undefined on a standby, and of an unknown form it is returned unchanged', () => {
  expect(snapshotOf(null)).toBeUndefined()
  expect(snapshotOf('another form')).toBe('another form')
})
