import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Session, Statement } from '../../services/api/database/index.ts'
import type { AttributeFilter } from '../../services/api/endpoint/index.ts'
import { KnownTexts } from '../../services/api/namespaces/assets/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

const SLOT = 500

let server: TestServer
let writer: pg.Client
beforeAll(async () => {
  server = await serveRecordings(['main'])
  writer = await connectDatabase(server.database.address, { applicationName: 'test' })
})
afterAll(async () => {
  await writer.end()
  await server.close()
})

const texts = new KnownTexts()

function filters(family: AttributeFilter['family'], containment: string): AttributeFilter[] {
  return [{ family, containment }]
}

/** The digests that the filter meets, and whether all texts were looked at for them. */
async function look(containment: string): Promise<{ digests: string[] | undefined; isWhole: boolean }> {
  const asked: string[] = []
  const session: Session = {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      asked.push(text)
      const { rows } = await writer.query<Row & unknown[]>({ text, values: [...values], rowMode: 'array' })
      return rows
    },
  }
  const digests = await texts.met(session, filters('mutable_data', containment))
  return {
    digests: digests && [...digests].sort(),
    isWhole: asked.some((text) => text.includes('RECURSIVE')),
  }
}

async function digestsOf(containment: string): Promise<string[]> {
  const { rows } = await writer.query<{ digest: string }>(
    `SELECT DISTINCT mutable_digest::text AS digest FROM assets.assets WHERE mutable_data @> $1 ORDER BY 1`,
    [containment],
  )
  return rows.map(({ digest }) => digest)
}

/** A block in which the mutable attributes of an asset are set; the one before it can be undone. */
async function commitBlock(rank: number, data: string, later = SLOT): Promise<void> {
  await writer.query(`
    BEGIN;
    INSERT INTO chain.reversible_blocks (reader, block_num, block_time, block_id)
      SELECT name, block_num, block_time, block_id FROM chain.readers ON CONFLICT DO NOTHING;
    UPDATE chain.readers SET block_num = block_num + 1, block_time = block_time + ${later},
      block_id = decode(md5(random()::text) || md5(random()::text), 'hex');
    UPDATE assets.assets SET mutable_data = '${data}', updated_at_block = r.block_num, updated_at_time = r.block_time
      FROM chain.readers r WHERE asset_id = (SELECT asset_id FROM assets.assets ORDER BY asset_id OFFSET ${rank} LIMIT 1);
    COMMIT`)
}

/** The head becomes another block, with attributes that an asset had there before its time. */
async function forkHead(rank: number, data: string): Promise<void> {
  await writer.query(`
    BEGIN;
    UPDATE chain.readers SET block_id = decode(md5(random()::text) || md5(random()::text), 'hex');
    UPDATE assets.assets SET mutable_data = '${data}', updated_at_time = r.block_time FROM chain.readers r
      WHERE asset_id = (SELECT asset_id FROM assets.assets ORDER BY asset_id OFFSET ${rank} LIMIT 1);
    COMMIT`)
}

it('knows the texts that were looked at, and looks at what blocks have changed since', async () => {
  await commitBlock(0, '{"rank":1,"of":"a"}')
  const known = await digestsOf('{"rank":1}')
  expect(known).toHaveLength(1)
  expect(await look('{"rank":1}')).toEqual({ digests: known, isWhole: true })
  expect(await look('{"rank":1}')).toEqual({ digests: known, isWhole: false })
  await commitBlock(1, '{"rank":1,"of":"b"}')
  await commitBlock(2, '{"rank":2,"of":"b"}')
  const more = await digestsOf('{"rank":1}')
  expect(more).toHaveLength(2)
  expect(await look('{"rank":1}')).toEqual({ digests: more, isWhole: false })
  // What no asset says any more does no harm.
  await commitBlock(1, '{"rank":3}')
  expect(await look('{"rank":1}')).toEqual({ digests: more, isWhole: false })
})

it('looks at all texts again where the block of the last look was undone, or is long past', async () => {
  await look('{"rank":4}')
  await forkHead(3, '{"rank":4,"of":"a"}')
  const forked = await digestsOf('{"rank":4}')
  expect(forked).toHaveLength(1)
  expect(await look('{"rank":4}')).toEqual({ digests: forked, isWhole: true })
  await commitBlock(4, '{"rank":4,"of":"b"}', 3_600_000)
  const later = await digestsOf('{"rank":4}')
  expect(later).toHaveLength(2)
  expect(await look('{"rank":4}')).toEqual({ digests: later, isWhole: true })
  expect((await look('{"rank":4}')).isWhole).toBe(false)
})

it('keeps no more texts than it would look at', async () => {
  await commitBlock(5, '{"rank":5,"of":"a"}')
  const few = await digestsOf('{"rank":5}')
  expect(await look('{"rank":5}')).toEqual({ digests: few, isWhole: true })
  await commitBlock(5, '{"rank":5,"of":"b"}')
  // As many other assets that say something of their own, in the same block.
  const { rows } = await writer.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
     WHERE attrelid = 'assets.assets'::regclass AND attnum > 0 AND attgenerated = '' AND NOT attisdropped
       AND attname NOT IN ('asset_id', 'mutable_data')`,
  )
  const { columns } = rows[0]!
  await writer.query(
    `INSERT INTO assets.assets (asset_id, mutable_data, ${columns})
     SELECT n, jsonb_build_object('rank', 5, 'n', n), ${columns} FROM generate_series(1, 3000) n,
       (SELECT * FROM assets.assets ORDER BY asset_id OFFSET 5 LIMIT 1) a`,
  )
  expect(await look('{"rank":5}')).toEqual({ digests: undefined, isWhole: true })
  await writer.query('DELETE FROM assets.assets WHERE asset_id <= 3000')
  const left = await digestsOf('{"rank":5}')
  expect(left).not.toEqual(few)
  expect((await look('{"rank":5}')).digests).toEqual(expect.arrayContaining(left))
})

it('knows nothing of attributes that never change', async () => {
  const session: Session = { query: () => Promise.reject(new Error('asked')) }
  expect(await texts.met(session, filters('immutable_data', '{"rank":1}'))).toBeUndefined()
})
