import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, it } from 'vitest'
import { NodeClient } from '../../services/core/chain-node/index.ts'
import { StableNode } from '../../services/filler/import/state/stable-node.ts'

const FINAL = '11'
const ORPHAN = 'ff'
/** Id of block `num` on the final chain. */
const blockId = (num: number) => num.toString(16).padStart(64, '0')

let server: Server | undefined

afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  if (server !== undefined) await once(server, 'close')
  server = undefined
})

/**
 * Starts a node whose first responses come from orphaned blocks: the node's head changes during each of the first
 * requests. All heads that the node reports belong to the final chain.
 */
async function startForkingNode(forks: number, behind = 5): Promise<{ node: StableNode; limits: number[] }> {
  let head = 100
  let left = forks
  const limits: number[] = []
  const answer = (path: string | undefined, body: { limit?: number }) => {
    if (path === '/v1/chain/get_info')
      return {
        head_block_num: head,
        head_block_id: blockId(head),
        last_irreversible_block_num: head - behind,
      }
    limits.push(body.limit ?? 0)
    const isOrphan = left > 0
    if (isOrphan) {
      left--
      head += 2
    }
    return path === '/v1/chain/get_table_rows'
      ? { rows: [isOrphan ? ORPHAN : FINAL], more: false, next_key: '' }
      : { rows: [{ scope: isOrphan ? 'orphan' : 'final', table: 'schemas' }], more: '' }
  }
  server = createServer((request, response) => {
    void text(request).then((body) =>
      response.end(JSON.stringify(answer(request.url, JSON.parse(body) as { limit?: number }))),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = new NodeClient(`http://127.0.0.1:${port}`, 1, new AbortController().signal)
  return { node: new StableNode(client, 90), limits }
}

it.each([3, 20])(
  'the import drops the rows of orphaned blocks, also if forks occur during %i requests',
  async (forks) => {
    const { node, limits } = await startForkingNode(forks)
    const { value, blocks } = await node.rows('atomicassets', 'schemas', ['collection'], '')
    expect(value[0]!.rows.map((row) => Buffer.from(row).toString('hex'))).toEqual([FINAL])
    expect(blocks).toMatchObject([{ num: 100 + 2 * forks, id: blockId(100 + 2 * forks) }])
    expect(limits).toHaveLength(forks + 1)
  },
)

it('the import drops scopes of orphaned blocks', async () => {
  const { node } = await startForkingNode(20)
  expect((await node.scopes('atomicassets', 'schemas', 0n)).value).toEqual({ scopes: ['final'], next: null })
})

it('if the head moves during every request for a page, the import requests smaller pages, and finally stops', async () => {
  const { node, limits } = await startForkingNode(1_000)
  await expect(node.rows('atomicassets', 'schemas', ['collection'], '')).rejects.toMatchObject({
    code: 'CHAIN_UNREACHABLE',
    message: expect.stringContaining('changed during each of 60 requests') as string,
  })
  expect([...new Set(limits)]).toEqual([1_000, 100])
})

it('a page is not requested again when the head advances, if the node has irreversible blocks only', async () => {
  const { node, limits } = await startForkingNode(1_000, 0)
  const { blocks } = await node.rows('atomicassets', 'schemas', ['collection'], '')
  expect(blocks).toMatchObject([{ num: 102 }])
  expect(limits).toEqual([1_000])
})
