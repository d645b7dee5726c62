import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { knownChains } from '../../services/core/config/schema/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { infoOf, startNodeStandIn } from '../setup/node-stand-in.ts'
import { patient } from '../setup/patience.ts'
import { program, startStandalone } from '../setup/standalone.ts'
import type { StartedStandalone } from '../setup/standalone.ts'
import { run, runProgram, startHere } from './ended.ts'
import { expectAnAsset, untilLive } from './health.ts'

const OTHER_CHAIN = 'ab'.repeat(32)

const folders: string[] = []

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pronghorn-test-'))
  folders.push(path)
  return path
}

it('an unusable data directory is reported with path and reason, without a stack trace', async () => {
  const base = await folder()
  await writeFile(join(base, 'file'), '')
  for (const path of [join(base, 'file'), join(base, 'file', 'below'), '/proc/nope']) {
    const { code, text } = await run('standalone', '--data', path)
    expect([code, text.split('\n').filter((line) => line !== '').length]).toEqual([1, 2])
    expect(text).toContain(`the data directory ${path} cannot be used`)
  }
  await mkdir(join(base, 'postgres'))
  await writeFile(join(base, 'postgres', 'notes.txt'), 'mine')
  const foreign = await run('standalone', '--data', base)
  expect(foreign.text).toContain(
    `DATA_FOLDER_UNUSABLE: the data directory ${base} holds "file" and no database of Pronghorn; nothing was touched`,
  )
  expect((await readdir(base)).sort()).toEqual(['file', 'postgres'])
  expect(await readFile(join(base, 'postgres', 'notes.txt'), 'utf8')).toBe('mine')
  await writeFile(join(base, 'postgres', 'PG_VERSION'), '15\n')
  await writeFile(join(base, 'postgres', 'postmaster.opts'), '')
  const newer = await run('standalone', '--data', base)
  expect(newer.text).toContain(
    `DATABASE_VERSION: the database in ${join(base, 'postgres')} is of PostgreSQL "15"`,
  )
  expect(newer.text).toContain('Use another `--data` directory')
  const missing = await run('digest', '--data', join(base, 'nope'))
  expect(missing.text).toMatch(/^DATA_FOLDER_MISSING: there is no database in /)
  const unnamed = await run('verify', '--data', join(base, 'nope'))
  expect(unnamed.text).toMatch(/^DATA_FOLDER_MISSING: there is no database in /)
  const both = await run('digest', '--data', base, '--config', base)
  expect([both.code, both.text]).toEqual([2, expect.stringMatching(/cannot be used with[^]*help digest`/)])
})

it('npm start names an option with an unusable value before it starts any process', async () => {
  const { code, text } = await runProgram('standalone', '--assets-account', 'UPPER')
  expect([code, text]).toEqual([
    2,
    'USAGE: --assets-account: found "UPPER", allowed: an account name: 1 to 12 of a-z, 1-5 and dots, no dot at the ends\nRead `npm start -- --help`.\n',
  ])
})

it('before it starts any process, npm start refuses an unreachable node and swapped node addresses', async () => {
  const chain = createServer((_, response) => {
    response.end(infoOf('ab'.repeat(32)))
  }).listen(0, '127.0.0.1')
  await once(chain, 'listening')
  const { port } = chain.address() as AddressInfo
  const http = `http://127.0.0.1:${port}`
  const unused = `127.0.0.1:${await findFreePort()}`
  for (const [args, exitCode, wanted] of [
    [
      ['--ship', `ws://${unused}`, '--http', `http://${unused}`],
      75,
      `CHAIN_NODE_REFUSED: the chain node http://${unused} refuses`,
    ],
    [
      ['--ship', `ws://${unused}`, '--http', http],
      75,
      `CHAIN_NODE_REFUSED: the chain node ws://${unused} refuses`,
    ],
    [['--ship', `ws://127.0.0.1:${port}`, '--http', http], 1, 'ADDRESSES_SWAPPED'],
  ] as const) {
    const { code, text } = await run('standalone', ...args)
    expect([code, text]).toEqual([exitCode, expect.stringContaining(wanted) as string])
    expect(text).not.toContain('is running')
    expect(text.split('\n').length).toBeLessThan(6)
  }
  chain.close()
})

it('npm start begins at the start block of a known chain, unless an option overrides it', async () => {
  const { id, name } = knownChains[0]!
  const chain = createServer((_, response) => {
    response.end(infoOf(id))
  }).listen(0, '127.0.0.1')
  const ship = new WebSocketServer({ server: chain })
  ship.on('connection', (socket) => {
    socket.send('{"get_status_request":{}}')
  })
  await once(chain, 'listening')
  const { port } = chain.address() as AddressInfo
  const node = ['--ship', `ws://127.0.0.1:${port}`, '--http', `http://127.0.0.1:${port}`]
  try {
    for (const words of [[], ['--start-block', '7', '--start-block-override']]) {
      const { output, stop } = await startHere([...node, ...words])
      expect(output()).toContain(`chain     ${name}: `)
      expect(await stop()).toBe(0)
    }
    const refused = await run('standalone', ...node, '--start-block', '7')
    expect([refused.code, refused.text]).toEqual([2, expect.stringContaining('--start-block: found 7')])
    expect(refused.text).toContain(
      'allowed: 64000000, the start block of wax-mainnet; --start-block-override allows another start block',
    )
    expect(refused.text).not.toContain('Starting PostgreSQL')
  } finally {
    ship.close()
    chain.close()
  }
})

describe('a data directory', () => {
  let data: string
  let service: StartedStandalone
  /** Output of the first start. */
  let first: string
  /** Block of the reader before the first stop. */
  let block: number

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'pronghorn-test-'))
    service = await startStandalone(['--data', data])
    first = service.output()
  }, patient(120_000))
  afterAll(async () => {
    await service.stop('SIGKILL')
    await rm(data, { recursive: true, force: true, maxRetries: 10 })
  })

  const keyOf = (text: string): string | undefined => /API key (server_\S+)/.exec(text)?.[1]

  it('npm start prints its steps and answers as the README shows; the commands `keys` and `doctor` find the running service by the option --data', async () => {
    for (const step of ['Starting PostgreSQL', 'the database', 'Starting the demo chain', 'Indexing'])
      expect(first).toContain(step)
    const example = await fetch(`${service.api}/atomicassets/v1/collections/carolcollect`)
    expect(await example.json()).toMatchObject({
      success: true,
      data: { name: 'Carol', created_at_block: '44' },
    })
    const taken = await run('standalone', '--port', new URL(service.api).port)
    expect(taken.text).toMatch(
      new RegExp(`the port is in use by .*\\(process ${String(service.child.pid)}\\)`),
    )
    const address = /postgres:\/\/\S+/.exec(first)![0]
    expect(new URL(address).password).not.toBe('')
    const created = await run('keys', 'create', '--label', 'mine', '--data', data)
    expect([created.code, created.text]).toEqual([0, expect.stringContaining('server_') as string])
    const smoke = await run('smoke-test', service.api)
    expect([smoke.code, smoke.text]).toEqual([0, expect.not.stringContaining('failed') as string])
    const examined = await run('doctor', '--data', data)
    expect([examined.code, examined.text]).toEqual([
      0,
      expect.stringMatching(/^ok +database +PostgreSQL [^]*^ok +reader standalone-1 +block \d+/m) as string,
    ])
    block = await untilLive(service.api)
  })

  it('keys, digest and verify work while no service runs', { timeout: patient(200_000) }, async () => {
    expect(await service.stop('SIGTERM')).toBe(0)
    expect(service.output()).not.toContain('delete_data')
    const other = await run('standalone', '--data', data, '--assets-account', 'otherassets')
    expect([other.code, other.text]).toEqual([
      1,
      expect.stringContaining(
        `READER_SETTINGS_CHANGED: ${data} was filled with --assets-account atomicassets, but this run has --assets-account otherassets\n`,
      ) as string,
    ])
    const listed = await run('keys', 'list', '--data', data)
    expect([listed.code, listed.text]).toEqual([0, expect.stringContaining('mine') as string])
    const digest = await run('digest', '--data', data, '--table', 'assets.assets')
    expect([digest.code, digest.text]).toEqual([
      0,
      expect.stringMatching(/assets\.assets +[0-9a-f]+ /) as string,
    ])
    const compared = await run('verify', '--data', data, '--state', '--table', 'assets.assets')
    expect([compared.code, compared.text]).toEqual([0, expect.stringContaining('No differences') as string])
    const sourceless = await run('verify', '--data', data)
    expect([sourceless.code, sourceless.text]).toEqual([
      2,
      expect.stringMatching(/--data needs --http[^]*\nRead `npx pronghorn help verify`\.\n$/) as string,
    ])
  })

  it('the refusal of a data directory of another chain names the directory, both chains and the remedy', async () => {
    const node = await startNodeStandIn(OTHER_CHAIN)
    try {
      const { code, lines } = await run(
        'standalone',
        '--data',
        data,
        '--ship',
        node.ship,
        '--http',
        node.http,
      )
      expect(code).toBe(1)
      expect(lines).toEqual([
        `CHAIN_MISMATCH: ${data} holds the demo chain, but the node at ${node.http} is of chain ${OTHER_CHAIN}`,
        'Use another `--data` directory, or a node of the demo chain.',
      ])
    } finally {
      node.close()
    }
  })

  it('the refusal of a damaged data directory names the file', { timeout: patient(120_000) }, async () => {
    for (const [file, text, named] of [
      [
        'postgres.password',
        null,
        `${data}/postgres.password, the file with the password of the database, is missing`,
      ],
      [
        'postgres.password',
        '\n',
        `${data}/postgres.password, the file with the password of the database, is empty`,
      ],
      ['api-key', null, `${data}/api-key cannot be read`],
      ['demo-chain.json', '{', `${data}/demo-chain.json does not describe a demo chain`],
    ] as const) {
      await rename(join(data, file), join(data, 'aside'))
      if (file === 'api-key') await mkdir(join(data, file))
      if (text !== null) await writeFile(join(data, file), text)
      const damaged = await run('standalone', '--data', data, '--port', String(await findFreePort()))
      const lines = damaged.text.split('\n').filter((line) => /^[A-Z_]+:| at /.test(line))
      expect([damaged.code, lines]).toEqual([1, [expect.stringMatching('^DATA_FOLDER_DAMAGED: ')]])
      expect(lines[0]).toContain(named)
      await rm(join(data, file), { recursive: true, force: true })
      await rename(join(data, 'aside'), join(data, file))
    }
  })

  it('npm start keeps its database, its demo chain and its key in --data, and continues where it stopped', async () => {
    service = await startStandalone(['--data', data])
    expect(keyOf(service.output())).toBe(keyOf(first))
    expect(await untilLive(service.api)).toBeGreaterThanOrEqual(block)
    await expectAnAsset(service.api)
  })

  it('if another program stops the embedded PostgreSQL, the error contains the last log lines of PostgreSQL', async () => {
    const [pid] = (await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
    const { child } = service
    process.kill(Number(pid), 'SIGINT')
    await once(child, 'close')
    await expect.poll(service.output).toContain('Start again with')
    const ending = service.output().slice(service.output().indexOf('EMBEDDED_POSTGRES_FAILED'))
    expect(ending).toMatch(
      /^EMBEDDED_POSTGRES_FAILED: PostgreSQL was stopped by another program \(exit code 0\)\. Last lines of the output:\n(?: {2}(?:\d{4}-\d\d-\d\d |\t).*\n)+Start again with/,
    )
    expect(service.output().split('EMBEDDED_POSTGRES_FAILED')).toHaveLength(2)
  })
})

it('pronghorn help exits with 2 for an unknown command, and names the command', () => {
  const { status, stderr } = spawnSync(process.execPath, [program, 'help', 'nothing'], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([2, expect.stringContaining("unknown command 'nothing'") as string])
})
