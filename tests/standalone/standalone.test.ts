import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { program, startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'
import { startChain } from '../integration/index-chain.ts'
import { startHere } from './ended.ts'
import { expectAnAsset, health, untilLive } from './health.ts'

const otherUser = { uid: 65534, gid: 65534 }

let running: StartedStandalone | null = null
const folders: string[] = []

afterEach(async () => {
  await running?.stop('SIGKILL')
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function start(
  args: readonly string[],
  account: { uid: number; gid: number } | null = null,
): Promise<StartedStandalone> {
  running = await startStandalone(args, account)
  return running
}

/** Checks that the printed URL and key suffice to log in to the state service and to request an ABI. */
async function expectAnAbi(printed: string): Promise<void> {
  const [, url, key] = /state\s+(http:\S+)\/v0\/docs, API key (server_[0-9a-f]{40})/.exec(printed)!
  const issued = await fetch(`${url!}/v1/auth/issue`, {
    method: 'POST',
    body: JSON.stringify({ api_key: key }),
  })
  const { token } = (await issued.json()) as { token: string }
  for (const [block, set] of [
    [862, 21],
    [863, 863],
  ] as const) {
    const path = `/v0/state/abi?account=atomicassets&block_num=${block}&json=true`
    const answer = await fetch(url! + path, { headers: { Authorization: `Bearer ${token}` } })
    expect(await answer.json()).toMatchObject({
      block_num: set,
      account: 'atomicassets',
      abi: { version: expect.stringMatching(/^eosio::abi/) as string },
    })
  }
  const rows = await fetch(
    `${url!}/v0/state/table?account=eosio.token&table=stat&scope=WAX&json=true&token=${token}`,
  )
  expect(await rows.json()).toMatchObject({ rows: [{ json: { issuer: 'eosio.token' } }] })
}

it('npm start serves the demo chain with an empty data directory, prints its addresses, and stops in order on SIGINT', async () => {
  const { stop, api, output } = await start([])
  const block = await untilLive(api)
  expect(block).toBeGreaterThanOrEqual(964)
  const chain = await health(api)
  expect(chain).toMatchObject({ demo: true, service: { status: 'healthy' } })
  await expectAnAsset(api)
  await expectAnAbi(output())
  await expect
    .poll(async () => Number((await health(api)).service.readers[0]!.block_num))
    .toBeGreaterThan(block)
  await expect.poll(output).toContain('At the head of the chain')
  expect(await stop('SIGINT')).toBe(0)
  expect(output()).not.toMatch(/error/i)
})

it('npm start indexes the chain of the node in --ship and --http, without the contracts whose account option is none', async () => {
  const node = await startChain({ recordings: ['main'], blocks: 3 })
  const contracts = ['--market-account', 'none', '--tools-account', 'none']
  const { stop, api } = await startHere(['--ship', node.shipUrl, '--http', node.httpUrl, ...contracts])
  try {
    expect(await untilLive(api)).toBe(node.chain.head().num)
    await expectAnAsset(api)
    expect(await health(api)).not.toHaveProperty('demo')
    expect((await fetch(`${api}/market/v1/config`)).status).toBe(404)
    expect((await fetch(`${api}/assets/v1/config`)).status).toBe(200)
  } finally {
    expect(await stop()).toBe(0)
    await node.chain.stop()
  }
})

it('npm start runs as an unprivileged user', async () => {
  // The test starts the program as an unprivileged user if root runs the tests. If an unprivileged user runs the tests,
  // every test of this file covers this case.
  const account = process.getuid?.() === 0 ? otherUser : null
  const reachable = spawnSync(process.execPath, ['--check', program], account ?? {}).status === 0
  if (!reachable)
    console.warn('the checkout cannot be read by other users: shown for the user who runs the tests only')
  const folder = await mkdtemp(join(tmpdir(), 'pronghorn-test-'))
  folders.push(folder)
  await chmod(folder, 0o777)
  const { stop, api } = await start(['--data', join(folder, 'data')], reachable ? account : null)
  await untilLive(api)
  await expectAnAsset(api)
  expect(await stop('SIGTERM')).toBe(0)
})

it('npm start refuses --ship without --http, and names the missing option', () => {
  const result = spawnSync(process.execPath, [program, 'standalone', '--ship', 'ws://127.0.0.1:1'], {
    encoding: 'utf8',
  })
  expect(result.status).toBe(2)
  expect(result.stderr).toContain('--http')
})
