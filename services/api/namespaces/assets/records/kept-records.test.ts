import { describe, expect, it } from 'vitest'
import type { Session, Statement } from '../../../database/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonString } from '../../../json/index.ts'
import { ComposedJson } from './composed-json.ts'
import { PartCache } from './part-cache.ts'
import { RecentlyUsed } from '../../../cache/index.ts'
import { UnchangedRecords } from './unchanged-records.ts'

describe('what was used recently', () => {
  it('is kept up to a number of bytes, and forgotten in the order of use', () => {
    const kept = new RecentlyUsed<string>(1_000)
    for (const key of ['a', 'b', 'c']) kept.set(key, key, 100)
    expect(kept.get('a')).toBe('a')
    kept.set('d', 'd', 100)
    expect(['a', 'b', 'c', 'd'].map((key) => kept.get(key))).toEqual(['a', undefined, 'c', 'd'])
    expect(kept.bytes).toBeLessThanOrEqual(1_000)
    kept.set('large', 'large', 2_000)
    expect([kept.get('large'), kept.bytes]).toEqual([undefined, 0])
  })

  it('is counted once, however often it is replaced', () => {
    const kept = new RecentlyUsed<string>(1_000)
    for (let times = 0; times < 10; times++) kept.set('a', 'a', 100)
    expect(kept.bytes).toBe(300)
    kept.clear()
    expect([kept.bytes, kept.get('a')]).toEqual([0, undefined])
  })
})

/** A table of versions and texts, and which keys it was asked for. */
function tableOf(rows: Map<string, readonly [version: string, text: string]>): {
  session: Session
  asked: string[][]
} {
  const asked: string[][] = []
  const session: Session = {
    query<Row extends readonly unknown[]>({ values: [keys] }: Statement): Promise<Row[]> {
      asked.push([...(keys as readonly string[])])
      const found = (keys as readonly string[]).flatMap((key) => {
        const row = rows.get(key)
        return row ? [[key, ...row].join('\u001f')] : []
      })
      return Promise.resolve([[found.length === 0 ? null : found.join('\u001e')]] as unknown as Row[])
    },
  }
  return { session, asked }
}

const kind = { name: 'test', key: 'k', version: 'v', texts: ['t'], from: 'FROM t' }

describe('parts', () => {
  it('are read again for another version only, and come as they are by then', async () => {
    const rows = new Map<string, readonly [string, string]>([['a', ['1', 'first']]])
    const { session, asked } = tableOf(rows)
    const parts = new PartCache(kind, 10_000)
    const load = async (version: string): Promise<unknown> =>
      (
        await parts.load(
          session,
          new Map([
            ['a', version],
            ['gone', '1'],
          ]),
        )
      ).get('a')
    expect(await load('1')).toEqual(['first'])
    expect(await load('1')).toEqual(['first'])
    rows.set('a', ['3', 'third'])
    // The row has gone on since version 2 was seen.
    expect(await load('2')).toEqual(['third'])
    expect(await load('3')).toEqual(['third'])
    expect(asked).toEqual([['a', 'gone'], ['gone'], ['a', 'gone'], ['gone']])
  })
})

describe('composed JSON', () => {
  it('is made again when one of its parts is another', () => {
    const composed = new ComposedJson(10_000)
    const [one, two] = [['1'], ['2']]
    let made = 0
    const get = (...of: (readonly string[] | undefined)[]): string =>
      jsonString(composed.get('k', of, () => `"${++made}ä"`))
    expect([get(one, two), get(one, two)]).toEqual(['"1ä"', '"1ä"'])
    expect([get(one, undefined), get(one, undefined)]).toEqual(['"2ä"', '"2ä"'])
    // A part with the same texts was made of another version.
    expect([get(['1'], undefined), get(one)]).toEqual(['"3ä"', '"4ä"'])
  })
})

describe('records of an unchanged database', () => {
  const made: string[][] = []
  const make =
    (mark: string, gone: readonly string[] = []) =>
    (keys: readonly string[]): Promise<Map<string, Json>> => {
      made.push([...keys])
      return Promise.resolve(
        new Map(keys.filter((key) => !gone.includes(key)).map((key) => [key, [`"${key}`, `${mark}"`]])),
      )
    }
  const texts = (records: readonly Json[]): string[] => records.map(jsonString)

  it('are made once for each kind and moment, and come in the order of the keys', async () => {
    const records = new UnchangedRecords(10_000)
    made.length = 0
    expect(texts(await records.render('a', 'm1', ['1', '2'], make('x')))).toEqual(['"1x"', '"2x"'])
    expect(texts(await records.render('a', 'm1', ['3', '2', '1'], make('y')))).toEqual([
      '"3y"',
      '"2x"',
      '"1x"',
    ])
    expect(texts(await records.render('b', 'm1', ['1'], make('z')))).toEqual(['"1z"'])
    expect(texts(await records.render('a', 'm2', ['2', '1'], make('w')))).toEqual(['"2w"', '"1w"'])
    expect(made).toEqual([['1', '2'], ['3'], ['1'], ['2', '1']])
  })

  it('are not kept when the moment is not known, nor for a moment that has passed', async () => {
    const records = new UnchangedRecords(10_000)
    expect(texts(await records.render('a', undefined, ['1'], make('x')))).toEqual(['"1x"'])
    expect(texts(await records.render('a', undefined, ['1'], make('y', ['1'])))).toEqual([])
    await records.render('a', 'm0', ['1'], make('0'))
    expect(texts(await records.render('a', undefined, ['1'], make('x')))).toEqual(['"1x"'])
    expect(texts(await records.render('a', 'm0', ['1'], make('y')))).toEqual(['"10"'])
    const later = records.render('a', 'm1', ['1'], async (keys) => {
      await records.render('a', 'm2', ['2'], make('2'))
      return make('1')(keys)
    })
    expect(texts(await later)).toEqual(['"11"'])
    expect(texts(await records.render('a', 'm2', ['1', '2'], make('3')))).toEqual(['"13"', '"22"'])
  })

  it('that are gone are left out, and looked for again', async () => {
    const records = new UnchangedRecords(10_000)
    expect(texts(await records.render('a', 'm', ['1', '2'], make('x', ['1'])))).toEqual(['"2x"'])
    expect(texts(await records.render('a', 'm', ['1', '2'], make('y')))).toEqual(['"1y"', '"2x"'])
    expect(records.bytes).toBeGreaterThan(0)
    records.clear()
    expect([records.bytes, texts(await records.render('a', 'm', ['2'], make('z')))]).toEqual([0, ['"2z"']])
  })
})
