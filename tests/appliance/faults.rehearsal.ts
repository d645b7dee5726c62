import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { smokeTest } from '../../services/appliance/index.ts'
import { createClient } from '../../services/appliance/smoke/client.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { DEMO_CHAIN_ID } from '../../services/core/chain-node/index.ts'
import { RetryableError } from '../../services/core/errors/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { runReader } from '../../services/filler/index.ts'
import { compareDumps, dumpDatabase } from '../integration/database-dump.ts'
import type { DatabaseDump } from '../integration/database-dump.ts'
import { describeUnless } from '../setup/available.ts'
import { createTestDatabase } from '../setup/database.ts'
import { applianceVariables, run, whyNoEngine } from './engine.ts'

const PROJECT = 'pronghorn-faults'
const ports = { http: 28_080, https: 28_443 }
const variables = applianceVariables(PROJECT, ports)
const url = `https://localhost:${ports.https}`
const ask = createClient(new URL(url), true)
const LONGEST = 900_000
const RECOVERY_MS = 60_000

const compose = (...words: string[]): Promise<string> => run(variables, 'docker', 'compose', ...words)

/** Reason why the suite cannot run. The suite needs root, because it kills processes of containers from the host. */
function whyNot(): string | undefined {
  return process.getuid?.() === 0 ? whyNoEngine() : 'killing the processes of containers takes root'
}

describeUnless(whyNot(), 'the appliance under faults', () => {
  let stopLoad = false
  let answered = 0

  beforeAll(async () => {
    await rm(join(packageRoot, variables.BACKUP_DIR), { recursive: true, force: true })
    await mkdir(join(packageRoot, variables.BACKUP_DIR))
    await compose('--profile', '*', 'down', '--volumes')
    await compose('up', '--detach', '--build', '--wait')
  }, LONGEST)

  afterAll(async () => {
    stopLoad = true
    await compose('--profile', '*', 'down', '--volumes')
  }, LONGEST)

  it(
    'the appliance is healthy within a minute after each container is killed, and after restarts',
    async () => {
      const load = Promise.all([1, 2, 3, 4].map(() => keepAsking()))
      for (const service of ['postgres', 'redis', 'filler', 'api', 'state', 'nginx', 'devchain']) {
        await killService(service)
        expect([service, await recover()]).toEqual([service, []])
      }
      for (const service of ['postgres', 'redis']) {
        await compose('restart', service)
        expect([service, await recover()]).toEqual([service, []])
      }
      stopLoad = true
      await load
      expect(answered).toBeGreaterThan(0)
      expect(await compareWithStraightRun()).toEqual([])
    },
    LONGEST,
  )

  it(
    'after backup, wipe and restore the appliance continues as if it had never stopped',
    async () => {
      await run(variables, 'scripts/backup', 'rehearsal')
      const refused = await run(variables, 'scripts/restore', 'rehearsal').then(
        () => '',
        (error: unknown) => String((error as { stderr?: string }).stderr),
      )
      expect(refused).toMatch(/holds data/)
      await sleep(3_000)
      await compose('down')
      await run(variables, 'docker', 'volume', 'rm', `${PROJECT}_postgres-data`)
      await run(variables, 'scripts/restore', 'rehearsal')
      expect(await recover()).toEqual([])
      expect(await compareWithStraightRun()).toEqual([])
    },
    LONGEST,
  )

  it(
    'scripts/rotate-secrets changes the superuser password, and the appliance is healthy within a minute',
    async () => {
      const before = await readSuperuser()
      await run(variables, 'scripts/rotate-secrets')
      expect(await readSuperuser()).not.toBe(before)
      expect(await recover()).toEqual([])
    },
    LONGEST,
  )

  async function keepAsking(): Promise<void> {
    while (!stopLoad) {
      const { status } = await ask('/atomicassets/v1/assets?limit=20').catch(() => ({ status: 0 }))
      if (status === 200) answered++
      await sleep(20)
    }
  }

  async function killService(service: string): Promise<void> {
    const id = (await compose('ps', '--quiet', service)).trim()
    const pid = (await run(variables, 'docker', 'inspect', '--format', '{{.State.Pid}}', id)).trim()
    process.kill(Number(pid), 'SIGKILL')
  }

  /**
   * Runs a smoke test and returns the failed checks. If the proxy is down, the smoke test ends before its first check.
   */
  async function findFailures(): Promise<string[]> {
    const options = { url, insecure: true, apiKey: undefined, account: 'atomicassets', waitMs: 10_000 }
    try {
      const results = await smokeTest({ ...options, report: () => undefined })
      return results.filter(({ outcome }) => outcome === 'failed').map(({ name, note }) => `${name}: ${note}`)
    } catch (error) {
      if (error instanceof RetryableError) return [error.message]
      throw error
    }
  }

  /** Repeats the smoke test for a minute or until nothing fails. Returns the remaining failures. */
  async function recover(): Promise<string[]> {
    const deadline = performance.now() + RECOVERY_MS
    for (;;) {
      const failed = await findFailures()
      if (failed.length === 0 || performance.now() > deadline) return failed
      await sleep(500)
    }
  }

  async function addressOf(service: string): Promise<string> {
    const id = (await compose('ps', '--quiet', service)).trim()
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}'
    const addresses = await run(variables, 'docker', 'inspect', '--format', format, id)
    return addresses.trim().split(' ')[0]!
  }

  function readSuperuser(): Promise<string> {
    return compose('run', '--rm', '--no-TTY', '--entrypoint', 'cat', 'config', '/rendered/secrets/superuser')
  }

  /**
   * Stops the filler and compares its tables with the tables of a reader that indexed the same chain without
   * interruption.
   */
  async function compareWithStraightRun(): Promise<string[]> {
    await compose('stop', 'filler')
    const found: DatabaseAddress = {
      host: await addressOf('postgres'),
      port: 5432,
      user: 'postgres',
      password: await readSuperuser(),
      database: 'pronghorn',
    }
    const client = await connectDatabase(found, { applicationName: 'test' })
    const { rows } = await client.query<{ block_num: number }>('SELECT block_num FROM chain.readers')
    await client.end()
    const devchain = await addressOf('devchain')
    const straight = await createTestDatabase()
    try {
      const text = await compose(
        'run',
        '--rm',
        '--no-TTY',
        '--entrypoint',
        'cat',
        'config',
        '/rendered/filler/readers.config.json',
      )
      await runReader(
        {
          settings: {
            ...(JSON.parse(text) as [Parameters<typeof runReader>[0]['settings']])[0],
            stop_block: rows[0]!.block_num,
            delete_data: false,
          },
          database: straight.address,
          chain: { chainId: DEMO_CHAIN_ID, http: `http://${devchain}:8888`, ship: [`ws://${devchain}:8080`] },
          logger: createLogger({ name: 'test', level: 'silent', pretty: true }),
          buildQueryIndexes: false,
          handoverMs: 2_000,
        },
        new AbortController().signal,
      )
      const [wanted, is] = [await dumpDatabase(straight.address), await dumpDatabase(found)]
      expect(wanted.size).toBeGreaterThan(20)
      return compareDumps(contentOf(wanted), contentOf(is))
    } finally {
      await straight.drop()
      await compose('start', 'filler')
    }
  }
})

/** Removes the tables that record the work of the readers. The remaining tables contain the data of the chain. */
function contentOf(dump: DatabaseDump): DatabaseDump {
  const own = /^(?:undo|access|public)\.|^chain\.(?:leases|heartbeats|reversible_blocks|list)/
  return new Map([...dump].filter(([name]) => !own.test(name)))
}
