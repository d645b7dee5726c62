import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { checkChainId, readChainInfo, readRawAbi } from './index.ts'

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

it('the chain API client reads what a node says of its chain', async () => {
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
  ['something else', '{"hello":1}'],
  ['no JSON', '<html>'],
  ['more than it may', `{"chain_id":"${'a'.repeat(100_000)}"}`],
])('the chain API client refuses a server that answers %s', async (_, body) => {
  const url = await node((_request, response) => response.end(body))
  await expect(readChainInfo(url)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', retryable: true })
  expect(await checkChainId(url, id)).toBe(false)
})

it('the chain API client reads a packed ABI, and knows an account without one', async () => {
  const url = await node((_, response) => response.end('{"abi":"AQID"}'))
  expect(await readRawAbi(url, 'alice')).toEqual(Buffer.from([1, 2, 3]))
  server?.removeAllListeners('request').on('request', (_, response) => response.end('{"abi":""}'))
  expect(await readRawAbi(url, 'alice')).toBeNull()
})
