import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examine } from '../../services/appliance/index.ts'
import { examineStore } from '../../services/appliance/doctor/doctor.ts'
import { ensureSelfSigned } from '../../services/appliance/tls/certificate.ts'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { describeWithRedis, refusalCauses, startTestRedis } from '../setup/redis.ts'

describe('the doctor', () => {
  let database: TestDatabase
  const helps = new Map<string, string>()

  beforeAll(async () => {
    database = await createTestDatabase()
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    for (const family of ['assets', 'tools']) await buildQueryIndexes(client, family)
    await client.end()
  })
  afterAll(() => database.drop())

  async function findings(
    families: readonly string[],
    {
      certificates = [] as string[],
      port = 1,
      address = database.address,
      kvstore = null as Parameters<typeof examine>[0]['kvstore'],
    } = {},
  ): Promise<Map<string, readonly [string, string]>> {
    const found = new Map<string, readonly [string, string]>()
    await examine({
      address,
      chainHttp: 'http://127.0.0.1:1',
      nodeDetails: {},
      kvstore,
      certificates,
      proxy: { host: '127.0.0.1', port, serverName: 'localhost' },
      databaseDisk: null,
      backups: null,
      mode: 'appliance',
      families,
      stopBlocks: new Map([['done', 900]]),
      report: (level, subject, note, command) => {
        found.set(subject, [level, note])
        if (command !== undefined) helps.set(subject, command)
      },
    })
    return found
  }

  it('the doctor reports how long a fault has lasted, and the command that repairs it', async () => {
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    const reader = (name: string) =>
      `INSERT INTO chain.readers (name, start_block, block_num, block_id, block_time) VALUES ('${name}', 1, 900, '\\x00', 0)`
    for (const name of ['gone', 'held', 'done']) await client.query(reader(name))
    await client.query(
      `INSERT INTO chain.heartbeats (reader, beaten_at, committed_at, problem, head_block, irreversible_block, blocks_per_second, state)
       VALUES ('gone', now() - interval '7 minutes', now(), NULL, 900, 900, 0, 'live'),
         ('held', now(), now() - interval '65 seconds', 'blocks wait', 900, 900, 0, 'live')`,
    )
    await client.query("SELECT chain.note_task('verify', '3 rows differ from the chain')")
    helps.clear()
    const found = await findings([])
    await client.query('DELETE FROM chain.heartbeats; DELETE FROM chain.readers; DELETE FROM chain.tasks')
    await client.end()
    expect(found.get('reader gone')).toEqual([
      'fail',
      'block 900, SILENT for 7 minutes: is the filler running?',
    ])
    expect(found.get('reader done')).toEqual(['ok', 'stopped at stop_block 900'])
    expect(found.get('reader held')?.[1]).toMatch(/^block 900, STALLED for 6\d seconds: blocks wait$/)
    expect(found.get('comparison')?.[1]).toMatch(/^3 rows differ from the chain, since 20\d\d-/)
    expect(helps.get('reader gone')).toBe('docker compose logs --tail 50 filler')
    expect(helps.get('comparison')).toBe('docker compose run --rm --no-deps filler verify --repair')
    expect(helps.get('chain node')).toContain('docker compose')
    expect(helps.has('versions')).toBe(false)
  })

  it('the doctor warns of query indexes that are not built yet, except the indexes of families that are not indexed', async () => {
    expect((await findings(['assets', 'tools'])).get('indexes')).toEqual([
      'ok',
      'all indexes exist and are valid',
    ])
    const [level, note] = (await findings(['assets', 'market'])).get('query indexes') ?? []
    expect([level, note]).toEqual(['warn', expect.stringMatching(/^indexes not built yet: .*sales/)])
  })

  it('the doctor refuses a database whose schema a later version wrote', async () => {
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    await client.query(
      "INSERT INTO public.pronghorn_migrations (number, name, checksum) VALUES (9999, 'later', '')",
    )
    const found = await findings([])
    await client.query('DELETE FROM public.pronghorn_migrations WHERE number = 9999')
    await client.end()
    expect(found.get('database')).toEqual([
      'fail',
      expect.stringMatching(
        /; DATABASE_TOO_NEW: the database has schema migration 9999 .*\. Set PRONGHORN_IMAGE in `\.env` to the image of the version that wrote the database/,
      ),
    ])
    expect(found.has('largest tables')).toBe(false)
  })

  it.each([
    [
      'a table that was dropped',
      'DROP TABLE chain.sources',
      /; DATABASE_TABLE_MISSING: the database lacks chain\.sources, .* was dropped\. Restore a backup/,
    ],
    [
      'a column that was renamed',
      'ALTER TABLE market.sales RENAME COLUMN price TO old_price',
      /; DATABASE_COLUMN_MISSING: the database lacks market\.sales\.price, .* was dropped or renamed\. Give a renamed/,
    ],
  ])('the doctor names %s', async (_, damage, said) => {
    const damaged = await createTestDatabase()
    const client = await connectDatabase(damaged.address, { applicationName: 'test' })
    await client.query(damage)
    await client.end()
    const found = await findings([], { address: damaged.address })
    await damaged.drop()
    expect(found.get('database')).toEqual(['fail', expect.stringMatching(said)])
  })

  it('the doctor reports an unreachable Redis', async () => {
    const address = { host: '127.0.0.1', port: 1, tls: false, connection_type: 'standalone' } as const
    expect((await findings([], { kvstore: { address, chainName: 'test' } })).get('key-value store')).toEqual([
      'fail',
      'Redis at 127.0.0.1:1: the key-value store is unavailable',
    ])
    expect((await findings([])).has('key-value store')).toBe(false)
  })

  it('the doctor reports the remaining validity of the served certificate, and an unreadable renewed key', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pronghorn-doctor-'))
    await ensureSelfSigned(folder, 'localhost')
    const [cert, key] = await Promise.all(
      ['fullchain.pem', 'privkey.pem'].map((name) => readFile(join(folder, name))),
    )
    const server = createServer({ cert: cert!, key: key! }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      const served = await findings([], { certificates: [folder], port })
      expect(served.get('certificate')).toEqual(['ok', 'days until the served certificate expires: 396'])
      // A folder in place of the key file is unreadable for root as well.
      await rm(join(folder, 'privkey.pem'))
      await mkdir(join(folder, 'privkey.pem'))
      expect((await findings([], { certificates: [folder], port })).get('certificate')).toEqual([
        'fail',
        'privkey.pem (EISDIR) cannot be read: the proxy cannot load a renewed certificate',
      ])
    } finally {
      server.close()
      await rm(folder, { recursive: true })
    }
  })

  it('the doctor warns of a certificate only when its renewal is overdue, and of files that contain no certificate', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pronghorn-doctor-'))
    await writeFile(join(folder, 'fullchain.pem'), 'no certificate')
    await writeFile(join(folder, 'privkey.pem'), 'no key')
    try {
      for (const [left, level] of [
        [3, 'ok'],
        [1, 'warn'],
      ] as const) {
        const notAfterDate = new Date(Date.now() + left * 86_400_000 + 60_000)
        const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
          ...{ keyType: 'ec', curve: 'P-256', notAfterDate },
          notBeforeDate: new Date(notAfterDate.getTime() - 6 * 86_400_000),
        })
        const server = createServer({ cert, key }).listen(0, '127.0.0.1')
        await once(server, 'listening')
        const { port } = server.address() as AddressInfo
        try {
          const served = await findings([], { port })
          expect(served.get('certificate')).toEqual([
            level,
            `days until the served certificate expires: ${left}`,
          ])
          expect((await findings([], { certificates: [folder], port })).get('certificate')).toEqual([
            'fail',
            'fullchain.pem (no certificate) cannot be read: the proxy cannot load a renewed certificate',
          ])
        } finally {
          server.close()
        }
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('the doctor reports an unreachable chain node', async () => {
    expect((await findings([])).get('chain node')?.[0]).toBe('fail')
  })

  it('the doctor reports a database without migrations', async () => {
    const empty = await createTestDatabase('template0')
    try {
      const found = await findings([], { address: empty.address })
      expect(found.get('database')).toEqual(['fail', expect.stringContaining('lacks schema migrations')])
    } finally {
      await empty.drop()
    }
  })
})

describeWithRedis('the doctor and Redis', () => {
  it.each(refusalCauses)('the doctor reports why Redis refuses writes: %s', async (cause) => {
    const redis = await startTestRedis()
    try {
      const look = async () => {
        const found: string[] = []
        await examineStore({
          kvstore: {
            address: { host: '127.0.0.1', port: redis.port, tls: false, connection_type: 'standalone' },
            chainName: 'test',
          },
          report: (level, _, note) => void found.push(level, note),
        })
        return found
      }
      expect(await look()).toEqual(['ok', `Redis at 127.0.0.1:${redis.port} answers and accepts writes`])
      await redis.refuseWrites(cause)
      expect(await look()).toEqual([
        'fail',
        expect.stringMatching(new RegExp(`refuses writes: .*\\(${cause}\\)`)),
      ])
    } finally {
      await redis.stop()
    }
  })
})
