import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { certificateFiles, ensureSelfSigned } from '../../services/appliance/tls/certificate.ts'
import { openKeyValueStore } from '../../services/core/kvstore/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'

const silent = { info: () => undefined, warn: () => undefined }

describeWithRedis('a Redis with TLS and users', () => {
  it('a key-value store connects over verified TLS, with the user, password file and database of the settings', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pronghorn-redis-tls-'))
    await ensureSelfSigned(dir, 'redis.test')
    const ca = join(dir, certificateFiles.chain)
    const file = join(dir, 'password')
    await writeFile(file, 'of-its-own\n')
    const users = join(dir, 'users.acl')
    const rights = '~pronghorn:* &pronghorn:* +@all -@admin -@dangerous +info'
    await writeFile(users, `user default off\nuser pronghorn on >of-its-own ${rights}\n`)
    const port = await findFreePort()
    const redis = await startTestRedis([
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', ca, '--tls-key-file', join(dir, certificateFiles.key)],
      ...['--aclfile', users],
    ])
    const address = {
      host: 'localhost',
      port,
      username: 'pronghorn',
      password_file: file,
      database: 3,
      tls: { rejectUnauthorized: true, ca_file: ca },
      connection_type: 'standalone',
    } as const
    const probe = async (changed: Partial<typeof address> | object): Promise<string> => {
      const store = await openKeyValueStore({ ...address, ...changed }, 'test', silent)
      try {
        return await store.probe()
      } finally {
        await store.close()
      }
    }
    try {
      expect(await probe({})).toBe('up')
      expect(await probe({ tls: true })).toBe('unavailable')
      expect(await probe({ host: '127.0.0.1' })).toBe('unavailable')
      expect(await probe({ tls: false })).toBe('unavailable')

      const one = await openKeyValueStore(address, 'test', silent)
      const other = await openKeyValueStore({ ...address, database: 5 }, 'test', silent)
      const heard: string[] = []
      await other.subscribe('channel', (message) => heard.push(message))
      await one.set('key', 'value', 10_000)
      expect([await one.get('key'), await other.get('key')]).toEqual(['value', null])
      await one.publish('channel', 'message')
      await expect.poll(() => heard).toEqual(['message'])
      await Promise.all([one.close(), other.close()])

      await expect(
        openKeyValueStore({ ...address, password_file: join(dir, 'none') }, 'test', silent),
      ).rejects.toThrow(/^kvstore\.password_file: .*none cannot be read \(ENOENT\)$/)
    } finally {
      await redis.stop()
      await rm(dir, { recursive: true, force: true })
    }
  })
})
