import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDevchain } from './devchain.ts'
import type { Devchain } from './devchain.ts'

let devchain: Devchain
let url: string

beforeAll(async () => {
  devchain = createDevchain({ blocks: 3 })
  url = `${(await devchain.start()).httpUrl}/v1/chain/`
})

afterAll(() => devchain.stop())

async function ask(
  request: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url + request, init)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('get_info returns head and irreversible block', async () => {
  const { body } = await ask('get_info')
  expect(body).toMatchObject({
    chain_id: devchain.chainId,
    head_block_num: 967,
    head_block_id: devchain.head().id,
    last_irreversible_block_num: 965,
    last_irreversible_block_id: devchain.lib().id,
  })
})

test('get_raw_abi gives the packed ABI', async () => {
  const { body } = await ask('get_raw_abi', { account_name: 'atomicassets' })
  expect(Buffer.from(body['abi'] as string, 'base64').includes('eosio::abi/1.')).toBe(true)
  expect((await ask('get_raw_abi', { account_name: 'alice' })).body['abi']).toBe('')
})

test('get_abi returns no member abi for an account without ABI, and an error for an unknown account', async () => {
  expect((await ask('get_abi?account_name=alice')).body).toEqual({ account_name: 'alice' })
  const unknown = await ask('get_abi', { account_name: 'nobodyhere' })
  expect(unknown.status).toBe(500)
  expect(unknown.body).toMatchObject({ code: 500, error: { code: 3060002, name: 'account_query_exception' } })
})

test('get_table_rows returns the rows between two bounds, in pages, and in reverse order', async () => {
  const query = { code: 'atomicassets', scope: 'atomicassets', table: 'collections', json: true }
  const keysOf = async (extra: object): Promise<unknown[]> => {
    const { body } = await ask('get_table_rows', { ...query, ...extra })
    return (body['rows'] as { collection_name: string }[]).map((row) => row.collection_name)
  }
  const all = await keysOf({ limit: 100 })
  expect(all.length).toBeGreaterThan(4)
  expect(await keysOf({ limit: 100, reverse: true })).toEqual(all.toReversed())
  expect(await keysOf({ lower_bound: all[1], upper_bound: all[3], limit: 100 })).toEqual(all.slice(1, 4))
  const first = await ask('get_table_rows', { ...query, limit: 2 })
  expect(first.body['more']).toBe(true)
  expect(await keysOf({ lower_bound: first.body['next_key'], limit: 100 })).toEqual(all.slice(2))
})

test('get_table_rows finds rows by a secondary index', async () => {
  const query = { code: 'atomicassets', scope: 'atomicassets', table: 'offers', json: true, limit: 100 }
  type Offer = Record<'offer_id' | 'sender' | 'recipient', string>
  const offers = async (extra: object): Promise<Offer[]> =>
    (await ask('get_table_rows', { ...query, ...extra })).body['rows'] as Offer[]
  const all = await offers({})
  const { recipient } = all[0]!
  const by = { index_position: 3, key_type: 'name', lower_bound: recipient, upper_bound: recipient }
  expect(await offers(by)).toEqual(all.filter((offer) => offer.recipient === recipient))
  const senders = (await offers({ index_position: 'secondary', key_type: 'name' })).map(
    ({ sender }) => sender,
  )
  expect(senders).toHaveLength(all.length)
  expect(senders.filter((sender, i) => i > 0 && sender !== senders[i - 1])).toHaveLength(
    new Set(senders).size - 1,
  )
  const points = {
    code: 'delphioracle',
    scope: 'waxpusd',
    table: 'datapoints',
    json: true,
    limit: 3,
    reverse: true,
  }
  const { body } = await ask('get_table_rows', { ...points, index_position: 3, key_type: 'i64' })
  const times = (body['rows'] as { timestamp: string }[]).map(({ timestamp }) => timestamp)
  expect(times).toHaveLength(3)
  expect(times).toEqual(times.toSorted().toReversed())
})

test('get_table_rows finds the supply of a token in the scope of the symbol code', async () => {
  const { body } = await ask('get_table_rows', {
    code: 'eosio.token',
    scope: 'WAX',
    table: 'stat',
    json: true,
  })
  expect(body['rows']).toMatchObject([{ supply: expect.stringMatching(/ WAX$/) as string }])
})

test.each([
  ['get_table_rows', { code: 'NOT A NAME', scope: 'x', table: 'y' }, 400],
  ['get_table_rows', { scope: 'x', table: 'y' }, 400],
  ['get_table_rows', { code: 'atomicassets', scope: 'a', table: 'nothere' }, 500],
  ['get_table_rows', { code: 'atomicassets', scope: 'a', table: 'assets', limit: -1 }, 400],
  ['get_table_rows', { code: 'atomicassets', scope: 'a', table: 'assets', lower_bound: '9'.repeat(20) }, 400],
  ['get_table_rows', { code: 'atomicassets', scope: 'a', table: 'assets', index_position: 2 }, 400],
  ['get_block_info', { block_num: 5000 }, 400],
  ['get_nothing', {}, 404],
])('the chain API answers the request %s %j with an error', async (request, body, status) => {
  const answer = await ask(request, body)
  expect(answer.status).toBe(status)
  expect(answer.body).toMatchObject({ code: status, error: { details: [{}] } })
})

test('bodies that are no JSON object, or too large, are refused', async () => {
  for (const [body, status] of [
    ['{', 400],
    ['[]', 400],
    ['"' + 'x'.repeat(100_000) + '"', 413],
  ] as const) {
    const response = await fetch(`${url}get_info`, { method: 'POST', body })
    expect(response.status).toBe(status)
  }
  const response = await fetch(`${url}get_info`, { method: 'PUT' })
  expect(response.status).toBe(405)
})

test('the error for a port in use contains the port number', async () => {
  const port = Number(new URL(url).port)
  await expect(createDevchain({ httpPort: port }).start()).rejects.toThrow(String(port))
})
