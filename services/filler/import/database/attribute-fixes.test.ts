import { expect, it } from 'vitest'
import { repairAttributes, repairDeep } from './attribute-fixes.ts'

const stored = { 0: 0, 1: 127, 2: 128, 3: 255 }

it('bytes of an int8[] attribute become signed numbers, others stay as they are', () => {
  const json = JSON.stringify({ nums: stored, other: stored, text: 'a' })
  expect(JSON.parse(repairAttributes(json, ['nums', 'text', 'missing']))).toEqual({
    nums: [0, 127, -128, -1],
    other: stored,
    text: 'a',
  })
  expect(repairAttributes(json, ['text'])).toBe(json)
})

it('bytes of a logged attribute are signed in INT8_VEC only', () => {
  const pairs = ['INT8_VEC', 'UINT8_VEC'].map((type) => ({ key: type, value: [type, stored] }))
  expect(repairDeep({ data: pairs })).toEqual({
    data: [
      { key: 'INT8_VEC', value: ['INT8_VEC', [0, 127, -128, -1]] },
      { key: 'UINT8_VEC', value: ['UINT8_VEC', [0, 127, 128, 255]] },
    ],
  })
})
