import { expect, it } from 'vitest'
import { repairAttributes, repairDeep } from './attribute-fixes.ts'

const bytes = (...names: string[]) => names.map((name) => ({ name, type: 'int8[]' }))
const stored = { 0: 0, 1: 127, 2: 128, 3: 255 }

it('the import repairs the bytes of an int8[] attribute to signed numbers, and leaves other attributes unchanged', () => {
  const json = JSON.stringify({ nums: stored, other: stored, text: 'a' })
  expect(JSON.parse(repairAttributes(json, bytes('nums', 'text', 'missing')))).toEqual({
    nums: [0, 127, -128, -1],
    other: stored,
    text: 'a',
  })
  expect(repairAttributes(json, bytes('text'))).toBe(json)
})

it('bytes of a logged attribute are signed only in INT8_VEC', () => {
  const pairs = ['INT8_VEC', 'UINT8_VEC'].map((type) => ({ key: type, value: [type, stored] }))
  expect(repairDeep({ data: pairs })).toEqual({
    data: [
      { key: 'INT8_VEC', value: ['INT8_VEC', [0, 127, -128, -1]] },
      { key: 'UINT8_VEC', value: ['UINT8_VEC', [0, 127, 128, 255]] },
    ],
  })
})

it('bytes and floats that atomicassets-api stores as text become numbers', () => {
  const fields = [
    ...bytes('nums', 'odd', 'none'),
    { name: 'real', type: 'double' },
    { name: 'short', type: 'float' },
    { name: 'list', type: 'float[]' },
    { name: 'word', type: 'float' },
  ]
  const json = JSON.stringify({
    ...{ nums: '007f80FF', odd: '0', none: '', real: '45.2500000', short: '0.1000000' },
    ...{ list: ['-1.5000000', 2], word: 'none', other: '1.5' },
  })
  expect(JSON.parse(repairAttributes(json, fields))).toEqual({
    ...{ nums: [0, 127, -128, -1], odd: '0', none: [], real: 45.25, short: Math.fround(0.1) },
    ...{ list: [-1.5, 2], word: 'none', other: '1.5' },
  })
})
