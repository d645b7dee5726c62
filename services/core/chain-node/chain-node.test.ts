import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, it } from 'vitest'
import { describeError } from '../errors/index.ts'
import { checkChainId, readChainInfo, readRawAbi, readTable } from './chain-node.ts'
import { NodeClient } from './node-client.ts'

let server: Server | null = null

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = null
})

async function node(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const id = 'ab'.repeat(32)
const info = {
  chain_id: id,
  head_block_num: 7,
  head_block_id: '07'.repeat(32),
  head_block_time: '2026-11-20T10:00:00.500',
  last_irreversible_block_num: 5,
}

it('the chain API client reads get_info', async () => {
  const url = await node((_, response) => response.end(JSON.stringify(info)))
  expect(await readChainInfo(url)).toEqual({
    chainId: id,
    headBlock: 7,
    headId: '07'.repeat(32),
    headTimeMs: Date.UTC(2026, 10, 20, 10, 0, 0, 500),
    irreversibleBlock: 5,
  })
  expect(await checkChainId(url, id)).toBe(true)
  await expect(checkChainId(url, 'cd'.repeat(32))).rejects.toMatchObject({ code: 'CHAIN_MISMATCH' })
})

it.each([
  ['JSON without the fields of get_info', '{"hello":1}'],
  ['no JSON', '<html>'],
  ['more bytes than the limit', `{"chain_id":"${'a'.repeat(100_000)}"}`],
])('the chain API client refuses a server that answers %s', async (_, body) => {
  const url = await node((_request, response) => response.end(body))
  await expect(readChainInfo(url)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', retryable: true })
  expect(await checkChainId(url, id)).toBe(false)
})

it('the chain API client reads a packed ABI, and returns null for an account without an ABI', async () => {
  const url = await node((_, response) => response.end('{"abi":"AQID"}'))
  expect(await readRawAbi(url, 'alice')).toEqual(Buffer.from([1, 2, 3]))
  server?.removeAllListeners('request').on('request', (_, response) => response.end('{"abi":""}'))
  expect(await readRawAbi(url, 'alice')).toBeNull()
})

it('the chain API client sends requests below the path of the node address, with the user and the query string of the address', async () => {
  const asked: unknown[] = []
  const plain = await node(({ url, headers }, response) => {
    asked.push([url, headers.authorization])
    response.end(JSON.stringify(info))
  })
  const login = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
  const withUser = plain.replace('http://', 'http://me:p%40ss@')
  for (const [address, path, authorization] of [
    [`${plain}/chain`, '/chain/v1/chain/get_info', undefined],
    [`${plain}/chain/?key=k`, '/chain/v1/chain/get_info?key=k', undefined],
    [withUser, '/v1/chain/get_info', login],
    [`${withUser}/chain/`, '/chain/v1/chain/get_info', login],
  ] as const) {
    await readChainInfo(address)
    await new NodeClient(address, 1, new AbortController().signal).ask('/v1/chain/get_info', {})
    expect(asked.splice(0)).toEqual([
      [path, authorization],
      [path, authorization],
    ])
  }
})

it('the errors of the chain API client contain no password and no API key of the node address', async () => {
  const plain = await node((_, response) => response.end(JSON.stringify(info)))
  const address = `${plain.replace('http://', 'http://me:secret@')}/chain?key=secret`
  const problems = [
    () => checkChainId(address, 'cd'.repeat(32)),
    () => readRawAbi('http://me:secret@127.0.0.1:1/chain?key=secret', 'alice'),
    () => new NodeClient(address, 1, AbortSignal.abort()).ask('/v1/chain/get_info', {}),
  ]
  for (const ask of problems) {
    const text = describeError(await ask().catch((error: unknown) => error))
    expect(text).toMatch(/CHAIN_MISMATCH|CHAIN_UNREACHABLE/)
    expect(text).not.toContain('secret')
  }
})

it('the chain API client reads a table page by page, and refuses a table of more pages than allowed', async () => {
  const bounds: unknown[] = []
  const url = await node((request, response) => {
    void text(request).then((body) => {
      bounds.push((JSON.parse(body) as { lower_bound?: string }).lower_bound)
      const id = bounds.length
      response.end(JSON.stringify({ rows: [{ id }], more: id < 3, next_key: String(id) }))
    })
  })
  const table = { code: 'oracle', scope: 'oracle', table: 'pairs' }
  expect(await readTable(url, table, 9)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  expect(bounds).toEqual([undefined, '1', '2'])
  bounds.length = 0
  await expect(readTable(url, table, 2)).rejects.toMatchObject({ code: 'CHAIN_TABLE_TOO_LARGE' })
})

it('the chain API client refuses a table of several pages if the node sends no next key', async () => {
  const url = await node((request, response) => {
    const isInfo = request.url === '/v1/chain/get_info'
    const answer = isInfo ? { ...info, server_version_string: 'v1.8.14' } : { rows: [{ id: 1 }], more: true }
    response.end(JSON.stringify(answer))
  })
  await expect(readTable(url, { code: 'oracle', scope: 'oracle', table: 'pairs' }, 9)).rejects.toMatchObject({
    code: 'CHAIN_NODE_TOO_OLD',
    message: expect.stringContaining('v1.8.14') as string,
  })
})
