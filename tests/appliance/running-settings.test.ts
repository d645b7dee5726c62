import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { render } from '../../services/appliance/render/render.ts'
import { configFiles, loadConfig, redactConfig } from '../../services/core/config/index.ts'
import type { ConfigPart } from '../../services/core/config/index.ts'
import {
  parseVariable,
  readStateSettings,
  settingVariables,
  stateVariables,
} from '../../services/core/config/environment/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { otherText, valuesAt } from './other-values.ts'

const run = promisify(execFile)
const program = join(packageRoot, 'dist/services/cli/main.js')
const parts = Object.keys(configFiles) as ConfigPart[]

let dir: string
let database: TestDatabase
let chain: TestChain
let child: ChildProcess | undefined
/** Variables and files of an appliance that uses the database and the chain of this test. */
let environment: Record<string, string>

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pronghorn-running-'))
  database = await createTestDatabase()
  chain = await startChain({ recordings: ['main'] })
  const { host, port, user, password, database: name } = database.address
  const connections = {
    sqldb: { host, port, user, password, database: name },
    chain: { name: 'test', chain_id: '${TEST_CHAIN}', http: chain.httpUrl, ship: chain.shipUrl },
  }
  mkdirSync(join(dir, 'own'))
  writeFileSync(join(dir, 'own', configFiles.connections), JSON.stringify(connections))
  environment = {
    CONFIG_FILES: join(dir, 'own'),
    TEST_CHAIN: chain.chain.chainId,
    POSTGRES_HOST: host,
    POSTGRES_PORT: String(port),
    POSTGRES_DATABASE: name,
  }
}, patient(120_000))
afterAll(async () => {
  child?.kill('SIGKILL')
  await chain.chain.stop()
  await database.drop()
  rmSync(dir, { recursive: true, force: true })
})

/** Starts a command, waits until it prints `text`, and runs `use`. Then stops the command and returns its exit code. */
async function whileRunning(
  words: readonly string[],
  text: string,
  use: () => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  const started = spawn(process.execPath, [program, ...words], {
    env: { LOG_LEVEL: 'info', API_WORKERS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = started
  let output = ''
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => started.once('close', resolve))
  const deadline = performance.now() + patient(60_000)
  while (!output.includes(text)) {
    if (started.exitCode !== null || performance.now() > deadline) throw new Error(output)
    await sleep(100)
  }
  await use()
  started.kill('SIGTERM')
  return ended
}

async function show(
  of: string,
  config: string,
  env?: Readonly<Record<string, string>>,
): Promise<Partial<Record<ConfigPart, unknown>>> {
  const words = [program, 'config', 'show', '--of', of, '--config', config]
  const { stdout } = await run(process.execPath, words, { timeout: patient(60_000), ...(env && { env }) })
  return JSON.parse(stdout) as Partial<Record<ConfigPart, unknown>>
}

it(
  "a filler runs the two readers of the operator's files, stops at their last block and prints its configuration",
  async () => {
    const port = await findFreePort()
    const handlers = [
      { handler: 'assets', args: { assets_account: 'atomicassets' } },
      { handler: 'oracle', args: { oracle_account: 'delphioracle' } },
      { handler: 'market', args: { market_account: 'atomicmarket' } },
    ]
    const common = { server_addr: '127.0.0.1', server_port: port, stop_block: 20 }
    const readers = [
      { ...common, name: 'main', contracts: handlers },
      {
        ...common,
        name: 'tools',
        contracts: [{ handler: 'tools', args: { tools_account: 'atomictoolsx' } }],
      },
    ]
    const file = join(dir, 'own', configFiles.readers)
    writeFileSync(file, JSON.stringify(readers))
    await render(
      { ...environment, SERVER_TOOLS_CONNECTED_READER: 'tools' },
      { out: join(dir, 'two'), certificateFiles: dir },
    )
    rmSync(file)
    const config = join(dir, 'two/filler')
    expect(readFileSync(join(config, 'listener'), 'utf8')).toBe(`127.0.0.1 ${port}\n`)
    const wanted = loadConfig({ need: parts, dir: config, env: {} }).config
    const code = await whileRunning(
      ['filler', '--stay', '--config', config],
      'every reader is at its stop_block',
      async () => {
        const shown = await show('filler', config)
        expect(shown.readers).toEqual(JSON.parse(JSON.stringify(wanted.readers)))
        const { connections } = wanted
        expect({ connections: shown.connections }).toEqual(
          JSON.parse(JSON.stringify(redactConfig({ connections }))),
        )
        expect(JSON.stringify(shown)).not.toContain(`"password":"${database.address.password}"`)
        const health = await fetch(`http://127.0.0.1:${port}/health`)
        expect(health.status).toBe(200)
        expect(
          ((await health.json()) as { data: { readers: { name: string }[] } }).data.readers
            .map(({ name }) => name)
            .sort(),
        ).toEqual(['main', 'tools'])
      },
    )
    expect(code).toBe(0)
  },
  patient(180_000),
)

it(
  'every key of the server file that .env sets is in effect in the running API',
  async () => {
    const own = {
      SERVER_PORT: String(await findFreePort()),
      SERVER_METRICS_PORT: String(await findFreePort()),
      SERVER_ADDR: '127.0.0.1',
      SERVER_METRICS_ADDR: '127.0.0.1',
    }
    const readers = ['ASSETS', 'MARKET', 'TOOLS'].map((family) => [
      `SERVER_${family}_CONNECTED_READER`,
      'main',
    ])
    // Keep the contract names that are in the test database.
    const accounts = {
      SERVER_ASSETS_ACCOUNT: 'atomicassets',
      SERVER_MARKET_ASSETS_ACCOUNT: 'atomicassets',
      SERVER_TOOLS_ASSETS_ACCOUNT: 'atomicassets',
      SERVER_MARKET_ACCOUNT: 'atomicmarket',
      SERVER_MARKET_ORACLE_ACCOUNT: 'delphioracle',
      SERVER_TOOLS_ACCOUNT: 'atomictoolsx',
    }
    const fixed: Record<string, string> = {
      ...own,
      ...accounts,
      ...(Object.fromEntries(readers) as Record<string, string>),
    }
    const settings = settingVariables.filter(({ part }) => part === 'server')
    const texts = Object.fromEntries(
      settings.map((setting) => [setting.name, fixed[setting.name] ?? otherText(setting, [])]),
    )
    await render({ ...environment, ...texts }, { out: join(dir, 'every'), certificateFiles: dir })
    const config = join(dir, 'every/api')
    const code = await whileRunning(['api', '--config', config], 'Listening on port', async () => {
      const shown = await show('api', config)
      for (const setting of settings) {
        const found = valuesAt(shown.server, setting.steps)
        expect([setting.name, ...new Set(found.map((each) => JSON.stringify(each)))]).toEqual([
          setting.name,
          JSON.stringify(parseVariable(setting, texts[setting.name]!)),
        ])
      }
    })
    expect(code).toBe(0)
  },
  patient(180_000),
)

it(
  'every variable of the state service is in effect in the running service',
  async () => {
    const env = {
      STATE_ADDR: '127.0.0.1',
      STATE_PORT: String(await findFreePort()),
      STATE_METRICS_PORT: String(await findFreePort()),
      STATE_TOKEN_TTL_SECONDS: '7200',
      STATE_TOKENS_PER_MINUTE: '77',
      STATE_TRUST_PROXY: '1',
      STATE_DB_CONNECTIONS: '3',
      STATE_ANSWER_BYTES: '2000000',
      STATE_ANSWERS_BYTES: '9000000',
    }
    expect(Object.keys(env).sort()).toEqual(stateVariables.map(({ name }) => name).sort())
    await render(environment, { out: join(dir, 'three'), certificateFiles: dir })
    const config = join(dir, 'three/state')
    const wanted = loadConfig({ need: ['connections'], dir: config, env: {} }).config
    const code = await whileRunning(
      ['state', '--config', config],
      'Listening on port',
      async () => {
        const shown = (await show('state', config, env)) as Record<string, unknown>
        expect(shown).toEqual(
          JSON.parse(
            JSON.stringify({
              ...(redactConfig({ connections: wanted.connections }) as object),
              state: readStateSettings(env).settings,
            }),
          ),
        )
        const defaults = readStateSettings({}).settings
        for (const [key, value] of Object.entries(shown.state as object))
          expect([key, value]).not.toEqual([key, defaults[key as keyof typeof defaults]])
        expect(JSON.stringify(shown)).not.toContain(`"password":"${database.address.password}"`)
      },
      env,
    )
    expect(code).toBe(0)
  },
  patient(120_000),
)
