import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../../../tests/setup/database.ts'
import { connectDatabase } from '../../../../core/database/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { containsText, isNoneOf, isNoneOfIds, resembles } from './conditions.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const people = raw('(SELECT n AS id, n::text AS name FROM generate_series(1, 20000) AS n) AS people')

async function rows(query: Sql): Promise<unknown[]> {
  const { text, values } = query.render()
  return (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows.flat()
}

describe('a long list of excluded values', () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => BigInt(at * 2))
  const conditions = [
    ['texts', isNoneOf(raw('name'), ids.map(String))],
    ['ids', isNoneOfIds(raw('id'), ids)],
  ] as const

  it.each(conditions)(
    'a long list of excluded %s is hashed once, not compared value by value',
    async (_, condition) => {
      const plan = (await rows(sql`EXPLAIN SELECT * FROM ${people} WHERE ${condition}`)).join('\n')
      expect(plan).toContain('hashed SubPlan')
      expect(plan).not.toContain('<> ALL')
    },
  )

  it.each(conditions)(
    'a long list of excluded %s excludes the same rows as a comparison with each value',
    async (_, condition) => {
      const left = await rows(sql`SELECT id FROM ${people} WHERE ${condition} ORDER BY id`)
      const out = new Set(ids.map(Number))
      expect(left).toEqual(Array.from({ length: 20_000 }, (_, at) => at + 1).filter((id) => !out.has(id)))
    },
  )
})

describe('a text search in any letter case', () => {
  const found = [
    ['привет', 'ПРИВЕТ'],
    ['ПРИВЕТ', 'a: Привет, мир'],
    ['Été', 'tout l’ÉTÉ'],
    ['straße', 'STRAßE'],
    ['İstanbul', 'İSTANBUL'],
    ['σοφός', 'ΣΟΦΌΣ'],
    ['\u{10428}x', 'ab\u{10400}X'],
    ['龍 Sword', 'a 龍 sWORD'],
    [String.raw`é.*(x)[y]{2}|^$\_%`, String.raw`É.*(X)[Y]{2}|^$\_%`],
  ] as const
  const missed = [
    ['привет', 'привёт'],
    ['é.*x', 'É and x'],
    ['é_%', 'Éab'],
    ['龍_', '龍a'],
  ] as const

  it.each(['C', 'default'])('a text search in any letter case works with collation %s', async (collation) => {
    const isFound = (term: string, text: string): Promise<unknown[]> =>
      rows(sql`SELECT ${containsText(sql`(${bind(text, 'text')} COLLATE ${raw(`"${collation}"`)})`, term)}`)
    for (const [term, text] of found) expect([term, await isFound(term, text)]).toEqual([term, [true]])
    for (const [term, text] of missed) expect([term, await isFound(term, text)]).toEqual([term, [false]])
  })

  it('a text search in any letter case uses the trigram index', async () => {
    await client.query(`SET enable_seqscan = off; CREATE TEMP TABLE notes (memo text COLLATE "C");
      CREATE INDEX notes_memo ON notes USING gin (memo gin_trgm_ops)`)
    await client.query('INSERT INTO notes SELECT unnest($1::text[])', [found.map(([, text]) => text)])
    for (const [term, text] of found) {
      const query = sql`SELECT memo FROM notes WHERE ${containsText(raw('memo'), term)}`
      expect((await rows(sql`EXPLAIN ${query}`)).join()).toContain('notes_memo')
      expect(await rows(query)).toContain(text)
    }
  })
})

it.each([
  ['привет', 'Большой ПРИВЕТ миру'],
  ['étoile', 'une ÉTOILE'],
  ['龍', '龍 sword'],
])('words similar to %s are found in any letter case: %s', async (term, text) => {
  const isFound = (words: string): Promise<unknown[]> =>
    rows(sql`SELECT ${resembles(bind(words, 'text'), term, true)}`)
  expect([await isFound(text), await isFound('other words')]).toEqual([[true], [false]])
})
