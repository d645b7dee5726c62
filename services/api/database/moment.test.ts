import { expect, it } from 'vitest'
import { momentOf } from './moment.ts'

const RUN = '2026-01-01 00:00:00.5+00'

it.each([
  ['10:10:', '10:'],
  // A transaction that has begun cannot be told from one that has not.
  ['10:11:10', '10:'],
  ['10:13:10,11,12', '10:'],
  ['10:13:10,12', '12:10'],
  ['9:13:9,12', '12:9'],
  ['9:14:9,12', '14:9,12'],
  [
    '18446744073709551000:18446744073709551002:18446744073709551000',
    '18446744073709551002:18446744073709551000',
  ],
])('the moment %s', (snapshot, moment) => {
  expect(momentOf(`${RUN} ${snapshot}`)).toBe(`${RUN} ${moment}`)
})

it('is not known on a standby, and what is not understood is left as it is', () => {
  expect(momentOf(null)).toBeUndefined()
  expect(momentOf('another form')).toBe('another form')
})
