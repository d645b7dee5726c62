import { expect, it } from 'vitest'
import { parseExactly } from './exact-numbers.ts'

it.each([
  '{"a": 1, "b": -0.5, "c": [10, 0]}',
  '{"a": "1.0", "b": "a \\"1.0\\" 12345678901234567890", "c": 0.30000000000000004}',
  `{"large": 1${'0'.repeat(300)}, "small": 0.${'0'.repeat(299)}1, "negative": -0.0000001234}`,
])('the numbers of a row stay numbers if JavaScript prints them in the same form: %s', (text) => {
  expect(parseExactly(text)).toEqual(JSON.parse(text))
})

it.each(['1.0', '-0.50', '9007199254740993', '0.1000000000000000000001'])(
  'the number %s becomes a string, because JavaScript prints it in another form',
  (text) => {
    expect(parseExactly(`{"a": [${text}], "b": 2}`)).toEqual({ a: [text], b: 2 })
  },
)
