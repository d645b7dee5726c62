import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../core/config/index.ts'
import { readProcessSettings } from '../../core/config/environment/index.ts'
import type { ApiConfig } from '../preconditions.ts'
import { countWorkers } from './run-api.ts'

function configWith(kvstore: object): ApiConfig {
  const { config } = parseConfig({
    connections: {
      sqldb: { host: 'db', user: 'me', database: 'wax' },
      chain: { name: 'wax', chain_id: 'a'.repeat(64), http: 'http://node:8888', ship: 'ws://node:8080' },
      ...kvstore,
    },
    server: { namespaces: [{ name: 'assets', path: '/assets', args: { assets_account: 'atomicassets' } }] },
  })
  return config
}

describe('the number of processes', () => {
  it('the number of processes is the configured number; the default is one process for each core, or a single process without Redis', () => {
    const shared = configWith({ kvstore: { host: 'redis' } })
    const alone = configWith({})
    expect(countWorkers(undefined, shared)).toBe(availableParallelism())
    expect(countWorkers(undefined, alone)).toBe(1)
    expect([countWorkers(3, shared), countWorkers(3, alone)]).toEqual([3, 3])
  })

  it('the number of processes comes from API_WORKERS; 0 means automatic', () => {
    const read = (text: string) => readProcessSettings({ API_WORKERS: text })
    expect(['', '0', '1', '256'].map((text) => read(text).apiWorkers)).toEqual([undefined, undefined, 1, 256])
    for (const text of ['257', '-1', '1.5', 'many', '1e3']) {
      expect(read(text).problems).toEqual([
        expect.objectContaining({ path: 'API_WORKERS', allowed: 'a whole number from 0 to 256' }),
      ])
    }
  })
})
