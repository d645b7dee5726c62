import { describe, expect, it } from 'vitest'
import { judge, readRuleBook } from '../../scripts/conformance/comparison/index.ts'
import type { Entry, Json, Reply } from '../../scripts/conformance/comparison/index.ts'
import { matchesPath } from '../../scripts/conformance/comparison/rules.ts'

const book = readRuleBook(
  JSON.stringify({
    base: { volatile: ['query_time'] },
    unordered: { loose: { data: null } },
    'by-time': { loose: { data: 'time' } },
    median: { either: [{ at: '**.median', where: { id: '4' }, groups: [[485, 500]] }] },
    added_fields: [{ of: 'template', when: ['max_supply'], keys: ['mutable_data'] }],
  }),
)

function entry(body: Json, more: Partial<Entry> = {}): Entry {
  const request = { method: 'GET', path: '/', query: '' }
  return {
    id: 'e',
    route: 'r',
    expect: 'same',
    request,
    status: 200,
    type: 'application/json',
    body,
    ...more,
  }
}

function reply(body: Json, status = 200): Reply {
  const timed =
    typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, query_time: 1 } : body
  return { status, type: 'application/json; charset=utf-8', location: undefined, text: JSON.stringify(timed) }
}

const result = (expected: Entry, actual: Reply) => judge(expected, actual, book).result

describe('path patterns of rules', () => {
  it('in a path pattern, * matches any key and ** matches any number of keys', () => {
    expect(matchesPath('data.*.assets', 'data.0.assets')).toBe(true)
    expect(matchesPath('data.*.assets', 'data.assets')).toBe(false)
    expect(matchesPath('**.memo', 'data.0.memo')).toBe(true)
    expect(matchesPath('**.memo', 'memo')).toBe(true)
    expect(matchesPath('**', 'a.b')).toBe(true)
    expect(matchesPath('data', 'data.x')).toBe(false)
  })
})

describe('the comparison of an answer with the recorded answer', () => {
  it('the comparison reads answers as JSON, in which an absent key is not null', () => {
    expect(result(entry({ data: { a: 1, b: 0 } }), reply({ data: { b: -0, a: 1.0 } }))).toBe('same')
    expect(result(entry({ data: { a: null } }), reply({ data: {} }))).toBe('wrong')
    expect(result(entry({ data: {} }), reply({ data: { a: null } }))).toBe('wrong')
    expect(result(entry({ data: [1, 2] }), reply({ data: [2, 1] }))).toBe('wrong')
    expect(result(entry({ data: '1' }), reply({ data: 1 }))).toBe('wrong')
  })

  it('the comparison requires the recorded status, the content type of JSON, and a query_time', () => {
    expect(result(entry({ data: 1 }), reply({ data: 1 }, 201))).toBe('wrong')
    expect(result(entry({ data: 1 }), { ...reply({ data: 1 }), type: 'text/html' })).toBe('wrong')
    expect(result(entry({ data: 1 }), { ...reply({}), text: '{"data":1}' })).toBe('wrong')
  })

  it('the comparison allows members that newer releases added, and no others', () => {
    const expected = entry({ data: { max_supply: '1' } })
    expect(result(expected, reply({ data: { max_supply: '1', mutable_data: {} } }))).toBe('same')
    expect(result(expected, reply({ data: { max_supply: '1', other: {} } }))).toBe('wrong')
  })

  it('the comparison allows another order where the order is not specified', () => {
    const rows = [
      { id: '1', time: 1 },
      { id: '2', time: 1 },
      { id: '3', time: 2 },
    ]
    const swapped = { data: [rows[1]!, rows[0]!, rows[2]!] }
    const reversed = { data: [rows[2]!, rows[1]!, rows[0]!] }
    expect(result(entry({ data: rows }, { rules: ['by-time'] }), reply(swapped))).toBe('same')
    expect(result(entry({ data: rows }, { rules: ['by-time'] }), reply(reversed))).toBe('wrong')
    expect(result(entry({ data: rows }, { rules: ['unordered'] }), reply(reversed))).toBe('same')
  })

  it('the comparison accepts any of the values that a rule of the request lists', () => {
    const expected = entry({ data: [{ id: '4', median: 485 }] }, { rules: ['median'] })
    expect(result(expected, reply({ data: [{ id: '4', median: 500 }] }))).toBe('same')
    expect(result(expected, reply({ data: [{ id: '4', median: 501 }] }))).toBe('wrong')
    const other = entry({ data: [{ id: '5', median: 485 }] }, { rules: ['median'] })
    expect(result(other, reply({ data: [{ id: '5', median: 500 }] }))).toBe('wrong')
  })

  it('the comparison accepts any of several recorded answers, and records in any of several recorded orders', () => {
    const also = entry({ data: 1 }, { also: [{ status: 400 }, { status: 200, subset: { data: 2 } }] })
    expect(result(also, reply({ message: 'no' }, 400))).toBe('also')
    expect(result(also, reply({ data: 2, more: 1 }))).toBe('also')
    const sequences = entry(
      {
        data: [
          { id: '1', ordinality: '1' },
          { id: '2', ordinality: '2' },
        ],
      },
      { alsoIds: { at: 'data', key: 'id', lists: [['2', '1', '3']] } },
    )
    const found = { data: [{ id: '2', ordinality: '9' }, { id: '1', ordinality: '8' }, { id: '3' }] }
    expect(result(sequences, reply(found))).toBe('also')
    expect(result(sequences, reply({ data: [{ id: '2' }, { id: '3' }] }))).toBe('wrong')
  })

  it('if the recorded answer shows a known defect of the replaced system, the comparison classes an answer as better, copied or wrong', () => {
    const defect = entry(
      { data: 'old' },
      { expect: 'better', better: [{ status: 400, subset: { success: false } }] },
    )
    expect(result(defect, reply({ success: false, message: 'x' }, 400))).toBe('better')
    expect(result(defect, reply({ data: 'old' }))).toBe('copied')
    expect(result(defect, reply({ data: 'other' }))).toBe('wrong')
  })
})
