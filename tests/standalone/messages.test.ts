import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createDevchain } from '../../services/devchain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { SmallDisk } from '../faults/small-disk.ts'
import { startNodeStandIn } from '../setup/node-stand-in.ts'
import { patient } from '../setup/patience.ts'
import { run, runProgram, startHere } from './ended.ts'

const OTHER_CHAIN = 'ab'.repeat(32)
const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pronghorn-test-'))
  closing.push(() => rm(path, { recursive: true, force: true, maxRetries: 10 }))
  return path
}

async function startChain(
  options: Parameters<typeof createDevchain>[0],
): Promise<Devchain & { ship: string; http: string }> {
  const chain = createDevchain({ seed: 3, ...options })
  const { shipUrl: ship, httpUrl: http } = await chain.start()
  closing.push(() => chain.stop())
  return Object.assign(chain, { ship, http })
}

it('a full disk is reported with the directory and the interrupted action', async (test) => {
  const data = await folder()
  const disk = SmallDisk.mount(data, 44)
  if (!disk.isSmall) test.skip('the test of a full disk needs the right to mount a file system')
  closing.push(() => disk.unmount())
  const { code, lines } = await run('standalone', '--data', data)
  expect(code).toBe(1)
  expect(lines).toEqual([
    expect.stringMatching(
      `^DISK_FULL: no space left in ${data} while creating (?:or updating )?the (?:tables|database files)$`,
    ),
    'Free space, or move `--data` to a larger disk, then start again.',
  ])
})

it('a node without old blocks is reported once, with the block to start at', async () => {
  const chain = await startChain({ blocks: 20, retainBytes: 300_000 })
  const port = String(await findFreePort())
  const node = ['--ship', chain.ship, '--http', chain.http]
  const { code, lines } = await runProgram('standalone', ...node, '--port', port)
  const [, first] = /before (\d+),/.exec(lines.join('\n')) ?? []
  expect(code).toBe(1)
  expect(lines).toEqual([
    `SHIP_RANGE_UNAVAILABLE: the node has no blocks before ${first!}, but block 1 is needed`,
    `Use a node with the full history, or start at the first block of this node with \`--start-block ${first!}\` (on a known chain also \`--start-block-override\`). Earlier blocks will be missing.`,
  ])
})

it("a start block after a contract's setabi is refused if the node cannot return the ABI, naming the endpoint that failed", async () => {
  const chain = await startChain({ blocks: 100 })
  const proxy = createServer((request, response) => {
    if (request.url === '/v1/chain/get_raw_abi') return response.writeHead(404).end('{}')
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      void fetch(`${chain.http}${request.url!}`, { method: 'POST', body: Buffer.concat(chunks) })
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        .catch(() => response.destroy())
    })
    return undefined
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  closing.push(() => proxy.close())
  const http = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const port = String(await findFreePort())
  const node = ['--ship', chain.ship, '--http', http, '--port', port]
  const { code, lines } = await run('standalone', ...node, '--start-block', '900')
  expect(code).toBe(1)
  expect(lines.slice(-2)).toEqual([
    expect.stringMatching(
      /^CONTRACT_ABI_MISSING: the node did not return the ABI of \w+ \(HTTP 404 from \/v1\/chain\/get_raw_abi\) and no block since 900 sets it, but block \d+ needs this ABI$/,
    ),
    "Check that the node's HTTP API (`--http`) is complete (chain_api_plugin), or start below the block of the contract's setabi action: `npm start -- --start-block NUMBER`.",
  ])
})

it('npm start reports swapped --ship and --http addresses', async () => {
  const node = await startNodeStandIn(OTHER_CHAIN)
  closing.push(() => node.close())
  const [ship, http] = [node.http.replace('http', 'ws'), node.ship.replace('ws', 'http')]
  const { code, lines } = await run('standalone', '--ship', ship, '--http', http)
  expect(code).toBe(1)
  expect(lines).toEqual([
    `ADDRESSES_SWAPPED: ${http} answers like a state-history socket, ${ship} answers like the HTTP API of a chain node`,
    'Are `--ship` and `--http` swapped? `--ship` takes ws://, `--http` takes http://.',
  ])
})

it('npm start refuses --ship and --http addresses of different chains', async () => {
  const chain = await startChain({ blocks: 10 })
  const node = await startNodeStandIn(OTHER_CHAIN)
  closing.push(() => node.close())
  const port = String(await findFreePort())
  const { code, lines } = await run('standalone', '--ship', chain.ship, '--http', node.http, '--port', port)
  expect(code).toBe(1)
  expect(lines).toEqual([
    `ADDRESSES_DIFFER: the node at --http serves chain ${OTHER_CHAIN}, the node at --ship serves chain ${chain.chainId}`,
    'Give `--ship` and `--http` the addresses of one node, or of nodes of one chain.',
  ])
})

it('a node that becomes unavailable is reported with the time of the first failure, and retried', async () => {
  const chain = await startChain({ blocks: 10, live: { intervalMs: 500 } })
  const { output, stop } = await startHere(['--ship', chain.ship, '--http', chain.http])
  closing.push(stop)
  await expect.poll(output, { timeout: patient(30_000) }).toContain('At the head')
  await chain.stop()
  await expect.poll(output, { timeout: patient(60_000) }).toContain('Trouble')
  const { host } = new URL(chain.ship)
  expect(output()).toMatch(
    new RegExp(
      `^Trouble: the chain node ws://${host}/? refuses connections \\(for \\d+ s\\)\\. Trying again\\.$`,
      'm',
    ),
  )
})
