import { expect, test } from 'vitest'
import { packAttributes } from '../contracts/attributes.ts'
import { scalarReaders } from '../../core/antelope/attributes/scalar-reader.ts'
import { Random } from './random.ts'
import { changingData } from './wording.ts'

const types = [...scalarReaders.keys()].flatMap((type) => [type, `${type}[]`])

test.each(types)('generated attribute values for the type %s can be packed as that type', (type) => {
  const format = Array.from({ length: 30 }, (_, at) => ({ name: `field${at}`, type }))
  const random = new Random(`values of ${type}`)
  const draws = Array.from({ length: 5 }, () => packAttributes(format, changingData(random, format)))
  expect(Buffer.concat(draws).length).toBeGreaterThan(draws.length)
})
