import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { ask, post, serveRecordings } from './server.ts'
import type { JsonAnswer, TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'], { everything: true })
})
afterAll(() => server.close())

const get = (path: string, init?: RequestInit): Promise<JsonAnswer> => ask(server.api.url + path, init)

async function warningOf(path: string, init?: RequestInit): Promise<string | null> {
  const { status, headers } = await get(path, init)
  expect(status).toBe(200)
  return headers.get('warning')
}

describe('an account that cannot exist', () => {
  it('an invalid account name in a path gets empty sums, not an error', async () => {
    const inventory = await get('/market/v1/prices/inventory/NOBODY')
    expect([inventory.status, inventory.body.data]).toEqual([200, { collections: [] }])
    const stats = await get('/market/v1/stats/accounts/NOBODY?symbol=WAX')
    expect(stats.status).toBe(200)
    expect(stats.body.data).toMatchObject({
      result: { account: 'NOBODY', buy_volume: '0', sell_volume: '0' },
    })
    expect((await get('/assets/v1/burns/NOBODY')).status).toBe(200)
  })
})

describe('a price record of an asset without a template', () => {
  it('a price record of an asset without a template has the mint number null', async () => {
    const client = await connectDatabase(server.database.address, { applicationName: 'test' })
    const { rows } = await client.query<{ asset_id: string }>(
      `UPDATE market.trades SET template_id = NULL, template_mint = NULL
        WHERE asset_id = (SELECT max(asset_id) FROM market.trades WHERE asset_count = 1) RETURNING asset_id`,
    )
    await client.end()
    const { body } = await get(`/market/v1/prices/sales?asset_id=${rows[0]!.asset_id}`)
    expect(body.data).not.toEqual([])
    for (const each of body.data as { template_mint: unknown }[]) expect(each.template_mint).toBeNull()
  })
})

describe('statistics without a known token symbol', () => {
  it('a request for statistics without a known token symbol is refused with the exact message that client libraries compare', async () => {
    const required = '299 - "symbol is required, for example symbol=WAX"'
    for (const [query, warning] of [
      ['', required],
      ['?symbol=', required],
      ['?symbol=NOPE', '299 - "the market has no token NOPE; /v1/config lists the tokens of the market"'],
    ] as const) {
      const { status, body, headers } = await get(`/market/v1/stats/collections${query}`)
      expect([status, body.message, headers.get('warning')]).toEqual([400, 'Symbol not found', warning])
    }
    const cheapest = await get('/market/v1/sales/templates')
    expect([cheapest.body.message, cheapest.headers.get('warning')]).toEqual([
      'symbol parameter is required',
      required,
    ])
    const unknown = await get('/market/v1/sales/templates?symbol=NOPE&collection_whitelist=a')
    expect([unknown.status, unknown.body.message]).toEqual([400, 'Symbol not found'])
  })
})

describe('a message about an invalid parameter', () => {
  it('the error for an invalid state lists the allowed states', async () => {
    for (const [path, states] of [
      ['/market/v2/sales', '1 listed, 2 cancelled, 3 sold, 4 invalid'],
      ['/tools/v1/links', '0 waiting, 1 created, 2 cancelled, 3 claimed'],
    ] as const) {
      const { status, headers } = await get(`${path}?state=x`)
      expect([status, headers.get('warning')]).toEqual([
        400,
        `299 - "state must be one or more of ${states}"`,
      ])
    }
  })

  it('the error for an unknown path links to the documentation', async () => {
    for (const path of ['/', '/nothing', '/market/v1/nothing']) {
      const { status, headers, body } = await get(path)
      expect([status, body.message]).toEqual([404, 'Endpoint not found'])
      expect(headers.get('link')).toBe('</docs>; rel="service-doc"')
    }
  })

  it('the error for price bounds without a token symbol names the parameter to add', async () => {
    const { status, headers } = await get('/market/v2/sales?min_price=1')
    expect([status, headers.get('warning')]).toEqual([
      400,
      '299 - "add the token of the prices, for example symbol=WAX"',
    ])
  })
})

describe('an amount in a log', () => {
  it('an amount in a log has all digits of a token with 18 decimal places', async () => {
    const client = await connectDatabase(server.database.address, { applicationName: 'test' })
    const { rows } = await client.query<{ id: string; symbol: string; price: string; precision: number }>(
      `SELECT auction_id::text AS id, token_symbol AS symbol, starting_price::text AS price, token_precision AS precision
        FROM market.auctions JOIN market.tokens USING (token_symbol)
          JOIN market.logs ON subject = auction_id JOIN market.log_actions n USING (action) WHERE n.name = 'lognewauct' LIMIT 1`,
    )
    const { id, symbol, price, precision } = rows[0]!
    const write = async (amount: string, decimals: number): Promise<void> => {
      await client.query('UPDATE market.auctions SET starting_price = $2 WHERE auction_id = $1', [id, amount])
      await client.query('UPDATE market.tokens SET token_precision = $2 WHERE token_symbol = $1', [
        symbol,
        decimals,
      ])
    }
    await write('4611686018427387903', 18)
    const { body } = await get(`/market/v1/auctions/${id}/logs?action_whitelist=lognewauct`)
    await write(price, precision)
    await client.end()
    const [log] = body.data as { data: Record<string, unknown> }[]
    expect(log!.data['starting_bid']).toBe(`4.611686018427387903 ${symbol}`)
  })
})

describe('a refused parameter value', () => {
  it('a refused parameter value gets the message that client libraries compare, and a header with the allowed values', async () => {
    const cases = [
      ['/assets/v1/assets?limit=5000', 'limit', 'limit must be a whole number from 1 to 1000'],
      ['/assets/v1/assets?order=up', 'order', 'order must be one of asc, desc'],
      ['/assets/v1/assets?burned=TRUE', 'burned', 'burned must be true or false'],
    ] as const
    for (const [path, name, allowed] of cases) {
      const { status, headers, body } = await get(path)
      expect([status, body.message]).toEqual([400, `Invalid value for parameter ${name}`])
      expect(headers.get('warning')).toBe(`299 - "${allowed}"`)
    }
  })

  it('a refused mint range gets the message of the replaced system, with its spelling mistake', async () => {
    const { status, body } = await get('/market/v2/sales?min_template_mint=3&max_template_mint=2')
    expect([status, body.message]).toEqual([400, "Min template mint can't be grater than max template mint"])
    const effective = await get('/market/v2/sales?min_effective_mint=3&max_effective_mint=2')
    expect([effective.status, effective.body.message]).toEqual([
      400,
      "Min effective mint can't be greater than max effective mint",
    ])
  })
})

describe('a parameter without effect', () => {
  it('a Warning header names each parameter without effect; the answer itself is unchanged', async () => {
    const plain = await get('/assets/v1/assets?limit=2')
    for (let time = 0; time < 4; time++) {
      const unknown = await get('/assets/v1/assets?limit=2&collectoin_name=x')
      expect(unknown.body.data).toEqual(plain.body.data)
      expect(unknown.headers.get('warning')).toBe(
        '299 - "this endpoint has no parameter collectoin_name; it is ignored"',
      )
      expect(await warningOf('/assets/v1/assets?limit=2&sort=beauty')).toMatch(
        /^299 - "sort must be one of asset_id, .*; the default is used"$/,
      )
      expect(await warningOf('/assets/v1/assets?limit=2')).toBeNull()
    }
    expect(await warningOf('/assets/v1/assets', post({ limit: 1, liimt: 1 }))).toContain('liimt')
  })

  it('a Warning header reports a parameter that was given twice; the last value counts', async () => {
    const { headers, body } = await get('/assets/v1/assets?limit=1&limit=2')
    expect((body.data as unknown[]).length).toBe(2)
    expect(headers.get('warning')).toBe('299 - "limit was given several times; the last value counts"')
    expect((await get('/assets/v1/offers?state=0&state=3')).headers.get('warning')).toBeNull()
  })

  it.each([
    ['/assets/v1/assets?limit=1', 'maker_marketplace'],
    ['/assets/v1/templates?limit=1', 'hide_offers'],
    ['/assets/v1/schemas?limit=1', 'collection_blacklists'],
    ['/assets/v1/collections?limit=1', 'data:number.level'],
    ['/assets/v1/templates?limit=1', 'mutable_data.name'],
    ['/assets/v1/accounts/alice?limit=1', 'account'],
  ])('a Warning header of %s reports the unknown parameter %s', async (path, name) => {
    expect(await warningOf(`${path}&${name}=1`)).toContain(
      `this endpoint has no parameter ${name}; it is ignored`,
    )
  })

  it('a parameter name cannot inject text into the Warning header', async () => {
    const name = encodeURIComponent(`a"\r\nSet-Cookie: b\\\u00e9${'x'.repeat(500)}`)
    const warning = await warningOf(`/assets/v1/assets?limit=1&${name}=1&z1&z2&z3&z4&z5&z6&z7`)
    expect(warning).toContain(String.raw`a\"??Set-Cookie: b\\?xxx`)
    expect(warning!.match(/299 - /g)).toHaveLength(5)
  })
})

describe('HTTP methods that write', () => {
  it('DELETE, PUT and PATCH are refused with 405 and the allowed methods', async () => {
    for (const method of ['DELETE', 'PUT', 'PATCH']) {
      const { status, headers, body } = await get('/atomicassets/v1/assets?limit=1', { method })
      expect([status, body]).toEqual([
        405,
        { success: false, message: `Method ${method} not allowed: send GET, HEAD, POST, OPTIONS` },
      ])
      expect(headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
      expect((await get('/health', { method })).status).toBe(405)
      expect((await get('/nothing', { method })).status).toBe(404)
      // The replaced system answers this path with status 404.
      expect((await get('/market/v1/config', { method })).status).toBe(404)
    }
  })
})
