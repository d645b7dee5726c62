import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonFault } from './json-scan.ts'

describe('findJsonFault', () => {
  it('findJsonFault accepts all valid JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(0, 1, 4), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), null, indent)
        expect(findJsonFault(written)).toBeNull()
      }),
    )
  })

  it('findJsonFault reports a fault exactly when JSON.parse does, except for duplicate keys', () => {
    const damaged = fc
      .tuple(
        fc.json({ maxDepth: 3 }),
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', ']', '\\', '0', '1', '-', ' ', 'x', '\n'),
      )
      .map(
        ([text, at, sign]) =>
          text.slice(0, at % (text.length + 1)) + sign + text.slice((at % (text.length + 1)) + 1),
      )
    fc.assert(
      fc.property(damaged, (text) => {
        const fault = findJsonFault(text)
        if (fault?.expected.startsWith('each key only once')) return
        expect([text, fault !== null]).toEqual([text, !isJson(text)])
      }),
      { numRuns: 5000 },
    )
  })

  it('findJsonFault reports line, column and the expected token', () => {
    expect(findJsonFault('{\n  "a": 1,\n}')).toEqual({
      line: 3,
      column: 1,
      expected: 'a key in double quotes',
    })
    expect(findJsonFault('[1, 2 3]')).toMatchObject({ line: 1, column: 7 })
    expect(findJsonFault('{"a": "b\n"}')).toMatchObject({ line: 1, column: 9 })
    expect(findJsonFault('// note\n{}')).toMatchObject({ line: 1, column: 1 })
    expect(findJsonFault('{} x')).toMatchObject({ expected: 'the end of the file' })
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
