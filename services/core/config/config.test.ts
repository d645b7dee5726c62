import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError, formatProblem } from './problems.ts'
import { knownChains } from './schema/index.ts'
import { parseConfig } from './load.ts'
import { redactConfig } from './index.ts'
import type { ConfigProblem } from './problems.ts'

const chainId = 'a0'.repeat(32)

function validParts() {
  return {
    connections: {
      sqldb: { host: 'db', port: 5432, user: 'pronghorn', password: 'hunter2', database: 'wax' },
      kvstore: { host: 'redis', port: 6379 },
      chain: { name: 'wax', chain_id: chainId, http: 'http://node:8888', ship: 'ws://node:8080' },
    } as Record<string, Record<string, unknown>>,
    server: {
      server_port: 9000,
      namespaces: [
        {
          name: 'assets',
          path: '/assets',
          aliases: ['/atomicassets'],
          args: { assets_account: 'atomicassets' },
        },
      ] as Record<string, unknown>[],
    } as Record<string, unknown>,
    readers: [
      {
        name: 'main',
        start_block: 5,
        contracts: [{ handler: 'assets', args: { assets_account: 'atomicassets', store_transfers: true } }],
      },
    ] as Record<string, unknown>[],
  }
}

type Parts = ReturnType<typeof validParts>

function problemsOf(change: (parts: Parts) => void): readonly ConfigProblem[] {
  const parts = validParts()
  change(parts)
  try {
    parseConfig(parts)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('parseConfig', () => {
  it('parseConfig fills in every default', () => {
    const { config, warnings } = parseConfig(validParts())
    expect(warnings).toEqual([])
    expect(config.connections.sqldb.replicas).toEqual([])
    expect(config.connections.kvstore?.tls).toBe(false)
    expect(config.server).toMatchObject({ server_addr: '0.0.0.0', max_query_time_ms: 10000, cache_life: 0 })
    expect(config.server.namespaces[0]?.args.limits).toMatchObject({
      assets: 1000,
      accounts: 5000,
      logs: 100,
    })
    expect(config.server.namespaces[0]?.args.socket_features.asset_update).toBe(true)
    expect(config.readers[0]).toMatchObject({
      stop_block: 0,
      ship_prefetch_blocks: 50,
      ship_min_block_confirmation: 25,
      ship_ds_queue_size: 20,
      delete_data: false,
      modules: [],
    })
  })

  it('parseConfig validates only the given parts (connections, server, readers) and returns no other part', () => {
    const { server } = validParts()
    const { config } = parseConfig({ server })
    expect(Object.keys(config)).toEqual(['server'])
  })

  it.each([
    [1, 1, 1],
    [1, undefined, 1],
    [10, 11, 5],
    [10, 10, 10],
    [3, 100000, 1],
  ])(
    'parseConfig with ship_prefetch_blocks %s and ship_min_block_confirmation %s uses a ship_min_block_confirmation of %s',
    (window, wanted, used) => {
      const parts = validParts()
      Object.assign(parts.readers[0]!, { ship_prefetch_blocks: window, ship_min_block_confirmation: wanted })
      const { config, warnings } = parseConfig(parts)
      expect(config.readers[0]?.ship_min_block_confirmation).toBe(used)
      expect(warnings.map((warning) => warning.path)).toEqual(
        wanted !== undefined && wanted > window ? ['[0].ship_min_block_confirmation'] : [],
      )
    },
  )

  it('parseConfig reports the problems of all files at once, each with path, value and allowed values', () => {
    const problems = problemsOf((parts) => {
      parts.connections.chain!.chain_id = 'abc'
      parts.connections.sqldb!.prot = 1
      delete parts.connections.sqldb!.user
      parts.server.server_prot = 9000
      parts.server.cache_life = '2'
      parts.readers.push(structuredClone(parts.readers[0]!))
      parts.readers[0]!.start_block = -1
    })
    expect(problems.map(formatProblem)).toEqual([
      'connections.config.json: sqldb.user: found nothing, allowed: text of 1 to 63 characters',
      'connections.config.json: sqldb.prot: found an unknown key with the value 1, allowed: the nearest known key is "port"',
      'connections.config.json: chain.chain_id: found "abc", allowed: 64 hexadecimal characters',
      'server.config.json: cache_life: found "2", allowed: a whole number from 0 to 31536000',
      'server.config.json: server_prot: found an unknown key with the value 9000, allowed: the nearest known key is "server_port"',
      'readers.config.json: [0].start_block: found -1, allowed: a whole number from 0 to 4294967295',
      'readers.config.json: [1].name: found "main", allowed: another name: reader [0] already has this name',
      expect.stringMatching(
        /^readers\.config\.json: \[1\]\.contracts\[0\]: found .*, allowed: at most one assets contract in/,
      ),
    ])
  })

  it('parseConfig never shows a secret', () => {
    const problems = problemsOf((parts) => {
      parts.connections.sqldb!.password = { hunter2: 'hunter2' }
      parts.connections.kvstore!.passwort = 'x'
      parts.connections.kvstore!.password = 17171717
      parts.connections.chain!.http = 'ftp://me:hunter2@node'
      parts.readers[0]!.list_polls = [{ url: 'nowhere', api_key: ['hunter2'], frequency: 0 }]
    })
    expect(problems).toHaveLength(7)
    expect(JSON.stringify(problems)).not.toMatch(/hunter2"|17171717|:hunter2@/)
    expect(new ConfigError(problems).message).toContain('7 problems')
  })

  it('parseConfig reports keys such as __proto__ as unknown, and shortens very large values', () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": {}}') as Record<string, unknown>
    const problems = problemsOf((parts) => {
      parts.connections = odd as never
      parts.server = { ...parts.server, namespaces: 'x'.repeat(1_000_000) }
    })
    const unknown = problems.filter((problem) => problem.found.startsWith('an unknown key'))
    expect(unknown.map((problem) => problem.path)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(problems.every((problem) => problem.found.length < 200)).toBe(true)
    expect(({} as Record<string, unknown>).port).toBeUndefined()
  })

  it.each([null, 5, 'text', [], [[]], {}, [null], [{ contracts: [null, 3] }]])(
    'parseConfig refuses %j as connections, server or readers',
    (value) => {
      for (const part of ['connections', 'server', 'readers'] as const) {
        expect(() => parseConfig({ ...validParts(), [part]: value })).toThrow(ConfigError)
      }
    },
  )
})

describe('random JSON values in the configuration files', () => {
  function placesOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
    if (typeof value !== 'object' || value === null) return [path]
    return [path, ...Object.entries(value).flatMap(([key, each]) => placesOf(each, [...path, key]))]
  }
  const places = placesOf(validParts()).filter((path) => path.length > 0)

  it('parseConfig accepts or refuses a random JSON value at any path, and every problem names a file', () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 3 }), (path, value) => {
        const parts: unknown = validParts()
        const owner = path.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(at as object, key), parts)
        Reflect.set(owner as object, path.at(-1)!, value)
        try {
          parseConfig(parts as Parts)
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError)
          const { problems } = error as ConfigError
          expect(problems.length).toBeGreaterThan(0)
          for (const problem of problems) {
            expect(problem.file).toMatch(/^(connections|server|readers)\.config\.json$/)
            expect(problem.allowed).not.toMatch(/Invalid input|Too (small|big)/)
          }
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('common mistakes in the configuration', () => {
  const mistakes: [string, (parts: Parts) => void, path: string, allowed: RegExp][] = [
    ['HTTP scheme', (p) => (p.connections.chain!.http = 'ws://node'), 'chain.http', /http:\/\/, https:\/\//],
    ['ship scheme', (p) => (p.connections.chain!.ship = 'http://node'), 'chain.ship', /ws:\/\/, wss:\/\//],
    ['ship list', (p) => (p.connections.chain!.ship = []), 'chain.ship', /list of 1 to 16/],
    [
      'ship weight',
      (p) => (p.connections.chain!.ship = ['ws://a', { url: 'ws://b', weight: 0 }]),
      'chain.ship[1].weight',
      /from 1 to 100/,
    ],
    [
      'ship range',
      (p) => (p.connections.chain!.ship = [{ url: 'ws://b', from: 9, to: 8 }]),
      'chain.ship[0].to',
      /not below `from`/,
    ],
    [
      'ship key',
      (p) => (p.connections.chain!.ship = [{ url: 'ws://b', wieght: 2 }]),
      'chain.ship[0].wieght',
      /"weight"/,
    ],
    ['no host', (p) => (p.connections.chain!.ship = 'ws+unix://'), 'chain.ship', /a URL such as/],
    ['port', (p) => (p.connections.sqldb!.port = 70000), 'sqldb.port', /from 1 to 65535/],
    [
      'cluster',
      (p) => (p.connections.kvstore!.connection_type = 'cluster'),
      'kvstore.connection_type',
      /"standalone"/,
    ],
    [
      'metrics port',
      (p) => (p.server.metrics_port = 9000),
      'metrics_port',
      /another port than `server_port`/,
    ],
    ['whitelist', (p) => (p.server.ip_whitelist = ['10.0.0.0/33']), 'ip_whitelist[0]', /an IP address/],
    ['proxies', (p) => (p.server.trust_proxy = ['everyone']), 'trust_proxy[0]', /loopback/],
    ['cors', (p) => (p.server.cors = ['(']), 'cors[0]', /regular expression/],
    ['no namespaces', (p) => (p.server.namespaces = []), 'namespaces', /1 to 32 items/],
    [
      'namespace',
      (p) => (p.server.namespaces = [{ name: 'asets' }]),
      'namespaces[0].name',
      /the nearest is "assets"/,
    ],
    ['limit', (p) => setArgs(p, { limits: { assets: 0 } }), 'namespaces[0].args.limits.assets', /from 1/],
    [
      'limit name',
      (p) => setArgs(p, { limits: { asets: 1 } }),
      'namespaces[0].args.limits.asets',
      /"assets"/,
    ],
    [
      'counts',
      (p) => setArgs(p, { enable_fast_asset_counts: 'yes' }),
      'namespaces[0].args.enable_fast_asset_counts',
      /true/,
    ],
    [
      'connected',
      (p) => setArgs(p, { connected_reader: 'x' }),
      'namespaces[0].args.connected_reader',
      /"main"/,
    ],
    [
      'account',
      (p) => setArgs(p, { assets_account: 'Atomic' }),
      'namespaces[0].args.assets_account',
      /account name/,
    ],
    [
      'path',
      (p) => (p.server.namespaces = [{ ...ns(p), path: 'assets/' }]),
      'namespaces[0].path',
      /such as \/assets/,
    ],
    [
      'root path',
      (p) => (p.server.namespaces = [{ ...ns(p), path: '/health' }]),
      'namespaces[0].path',
      /begin with/,
    ],
    [
      'same path',
      (p) => (p.server.namespaces = [{ ...ns(p), aliases: ['/Assets'] }]),
      'namespaces[0].aliases[0]',
      /another path/,
    ],
    ['no readers', (p) => (p.readers = []), '', /1 to 64 items/],
    [
      'handler',
      (p) => (p.readers[0]!.contracts = [{ handler: 'marktt' }]),
      '[0].contracts[0].handler',
      /nearest is "market"/,
    ],
    ['stop', (p) => (p.readers[0]!.stop_block = 4), '[0].stop_block', /not below `start_block`, which is 5/],
    ['modules', (p) => (p.readers[0]!.modules = ['filter']), '[0].modules', /empty list/],
    [
      'port clash',
      (p) => (p.readers[0]!.server_port = 9000),
      '[0].server_port',
      /another port than `server_port`/,
    ],
  ]

  function ns(parts: Parts) {
    return (parts.server.namespaces as Record<string, unknown>[])[0]!
  }
  function setArgs(parts: Parts, args: object) {
    ns(parts).args = { ...(ns(parts).args as object), ...args }
  }

  it.each(mistakes)(
    'parseConfig reports one problem with the path of the mistake: %s',
    (_name, change, path, allowed) => {
      const problems = problemsOf(change)
      expect(problems).toHaveLength(1)
      expect(problems[0]?.path).toBe(path)
      expect(problems[0]?.allowed).toMatch(allowed)
    },
  )

  it('parseConfig accepts valid values that resemble mistakes', () => {
    const changes: ((parts: Parts) => void)[] = [
      (p) => (p.connections.chain!.ship = 'ws+unix:///run/ship.sock'),
      (p) => (p.connections.chain!.ship = ['ws://a:1', 'wss://b/path']),
      (p) => (p.connections.chain!.ship = ['ws://a:1', { url: 'wss://b/path', weight: 2, from: 7, to: 9 }]),
      (p) => (p.connections.chain!.chain_id = chainId.toUpperCase()),
      (p) => (p.connections.kvstore!.tls = { rejectUnauthorized: false }),
      (p) => (p.server.ip_whitelist = ['::1', '10.0.0.0/8', 'fe80::/10']),
      (p) => (p.server.trust_proxy = 'loopback, 10.0.0.1'),
      (p) => (p.server.trust_proxy = 2),
      (p) => (p.readers[0]!.stop_block = 5),
      (p) => {
        p.server.server_addr = '127.0.0.1'
        Object.assign(p.readers[0]!, { server_port: 9000, server_addr: '127.0.0.2' })
      },
    ]
    for (const change of changes) expect(problemsOf(change)).toEqual([])
  })
})

describe('checks across the handlers of all readers', () => {
  const oracle = { handler: 'oracle', args: { oracle_account: 'delphioracle' } }
  const market = { handler: 'market', args: { market_account: 'atomicmarket' } }

  function withContracts(...contracts: object[]) {
    return problemsOf((parts) => (parts.readers[0]!.contracts as object[]).push(...contracts))
  }

  it('parseConfig refuses a market handler without an assets handler or an oracle handler', () => {
    expect(withContracts(market, oracle)).toEqual([])
    expect(withContracts(market)).toMatchObject([
      {
        path: '[0].contracts[1].handler',
        found: '"market" without an oracle handler',
        allowed: expect.stringContaining('oracle handler') as string,
      },
    ])
    const alone = problemsOf((parts) => (parts.readers[0]!.contracts = [market]))
    expect(alone.map((problem) => problem.found)).toEqual([
      '"market" without an assets handler',
      '"market" without an oracle handler',
    ])
  })

  it('parseConfig refuses a market handler if the assets handler has another assets_account', () => {
    const other = { ...market, args: { ...market.args, assets_account: 'otherassets' } }
    expect(withContracts(other, oracle)).toMatchObject([
      {
        path: '[0].contracts[1].args.assets_account',
        found: '"otherassets"',
        allowed: expect.stringContaining('"atomicassets"') as string,
      },
    ])
  })

  it('parseConfig refuses a market handler if the assets handler is in another reader', () => {
    const problems = problemsOf((parts) => {
      parts.readers.push({ name: 'second', contracts: [market, oracle] })
    })
    expect(problems).toMatchObject([
      {
        path: '[1].contracts[0].handler',
        found: '"market" in a reader without an assets handler',
        allowed: expect.stringContaining('which now belongs to reader "main"') as string,
      },
    ])
  })

  it('parseConfig accepts a tools handler whose assets handler is in another reader', () => {
    const tools = { handler: 'tools', args: { tools_account: 'atomictoolsx' } }
    expect(problemsOf((parts) => parts.readers.push({ name: 'second', contracts: [tools] }))).toEqual([])
  })

  it('parseConfig refuses two readers that index different assets contracts', () => {
    const problems = problemsOf((parts) => {
      const contracts = [{ handler: 'assets', args: { assets_account: 'otherassets' } }]
      parts.readers.push({ name: 'second', contracts })
    })
    expect(problems).toMatchObject([{ path: '[1].contracts[0]' }])
    expect(problems[0]?.allowed).toMatch(
      /"second" would index "otherassets" while reader "main" indexes "atomicassets"/,
    )
  })

  it('parseConfig reports no missing oracle handler if the oracle entry itself is refused', () => {
    expect(withContracts(market, { ...oracle, handler: 'oracel' }).map((problem) => problem.path)).toEqual([
      '[0].contracts[2].handler',
    ])
  })
})

describe('warnings of parseConfig', () => {
  it('parseConfig warns of valid settings with surprising effects', () => {
    const parts = validParts()
    delete parts.connections.kvstore
    parts.server.trust_proxy = true
    parts.server.ip_whitelist = ['10.0.0.1']
    parts.readers[0]!.contracts = [{ handler: 'assets', args: { assets_account: 'other' } }]
    const { warnings } = parseConfig(parts)
    expect(warnings.map(({ file, path }) => `${file} ${path}`)).toEqual([
      'readers.config.json [0].contracts[0].args.store_transfers',
      'server.config.json ip_whitelist',
      'server.config.json namespaces[0].args.assets_account',
      'connections.config.json kvstore',
    ])
  })
})

it('redactConfig removes secrets and nothing else', () => {
  const { config } = parseConfig(validParts())
  const printed = JSON.stringify(redactConfig(config))
  expect(printed).not.toContain('hunter2')
  expect(printed).toContain('"user":"pronghorn"')
})

describe('the start block of a known chain', () => {
  const started = knownChains.filter(({ startBlock }) => startBlock !== undefined)
  it.each(started)(
    'the configuration of $name must start at block $startBlock or override it',
    ({ id, startBlock }) => {
      const withStart = (start: number, more: object = {}) =>
        problemsOf((parts) => {
          parts.connections.chain!.chain_id = id
          Object.assign(parts.readers[0]!, { start_block: start, ...more })
        }).map(({ path, allowed }) => [path, allowed.split(',')[0]])
      for (const wrong of [0, startBlock! - 1, startBlock! + 1])
        expect(withStart(wrong)).toEqual([['[0].start_block', String(startBlock)]])
      expect(withStart(startBlock!)).toEqual([])
      expect(withStart(0, { start_block_override: true })).toEqual([])
      expect(
        withStart(0, { contracts: [{ handler: 'state', args: { accounts: ['eosio.token'] } }] }),
      ).toEqual([])
    },
  )
})
