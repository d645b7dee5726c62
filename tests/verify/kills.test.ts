import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { runCli } from '../../services/cli/program.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { startChain, testSettings } from '../integration/index-chain.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'

const kills = Number(process.env.VERIFY_KILLS ?? rounds(2, 4))
const fork = join(import.meta.dirname, '../fixtures/recordings/fork')
const program = join(packageRoot, 'dist/services/cli/main.js')
/** Exit code of a repair that starts while the database session of a killed repair still holds the lease. */
const LEASE_HELD = 75

// The recorded chain `fork` has rows of the assets contract only.
const contracts = testSettings.contracts.filter(({ handler }) => handler === 'assets')
const forked = {
  chain: { recordings: [fork], replay: 'history' },
  stopBlock: 403,
  settings: { contracts },
} as const

it(
  `a repair that is killed ${kills} times has written either everything or nothing`,
  { timeout: patient(300_000) },
  async () => {
    const database = await createIndexedDatabase(forked)
    const config = await mkdtemp(join(tmpdir(), 'pronghorn-repair-'))
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    const env = { LOG_LEVEL: 'silent' }
    const command = ['verify', '--folder', join(fork, 'tables'), '--config', config]
    const repairing = [...command, '--repair', '--yes']
    const start = (words: readonly string[]) =>
      spawn(process.execPath, [program, ...words], { env, stdio: 'ignore' })
    const compare = () => start(command)
    const repair = () => start(repairing)
    /** Repairs the database in this process, which takes less processor time than a new process. */
    const repairHere = () => {
      const { signal } = new AbortController()
      return runCli(repairing, { env, isTerminal: false, out: () => undefined, err: () => undefined, signal })
    }
    try {
      const running = await startChain(forked.chain)
      await running.chain.stop()
      const connections = {
        sqldb: database.address,
        chain: {
          name: 'test',
          chain_id: running.chain.chainId,
          http: running.httpUrl,
          ship: running.shipUrl,
        },
      }
      await writeFile(join(config, 'connections.config.json'), JSON.stringify(connections))
      const { digest } = await digestOf(database.address)
      const damage = () =>
        client.query(`UPDATE assets.assets SET ram_payer = 'nobody' WHERE owner IS NOT NULL;
        UPDATE assets.accounts SET assets = assets + 1; UPDATE assets.collections SET market_fee = market_fee + 0.01`)
      await damage()
      const damaged = (await digestOf(database.address)).digest

      const started = performance.now()
      expect((await once(repair(), 'exit'))[0]).toBe(0)
      const wholeMs = performance.now() - started
      expect((await digestOf(database.address)).digest).toBe(digest)

      const random = createRandom(Number(process.env.VERIFY_SEED ?? 7))
      const interrupt = async (child: ChildProcess) => {
        const ended = once(child, 'exit')
        await Promise.race([delay((0.3 + 0.7 * random.fraction()) * wholeMs), ended])
        child.kill('SIGKILL')
        return (await ended) as [number | null, string | null]
      }
      // A killed comparison leaves the database unchanged.
      for (let compared = 0; compared < kills;) if ((await interrupt(compare()))[1] === 'SIGKILL') compared++
      expect((await digestOf(database.address)).digest).toBe(digest)
      let killed = 0
      const outcomes: string[] = []
      // Count only repairs that the signal interrupted; a repair may finish before the signal.
      while (killed < kills) {
        await damage()
        expect((await digestOf(database.address)).digest).toBe(damaged)
        const [code, signal] = await interrupt(repair())
        if (signal === 'SIGKILL') killed++
        else expect([0, LEASE_HELD]).toContain(code)
        const found = (await digestOf(database.address)).digest
        expect([digest, damaged]).toContain(found)
        if (signal === 'SIGKILL') outcomes.push(found === damaged ? 'nothing' : 'all')
        if (found === damaged) {
          await client.query('SELECT 1')
          await expect.poll(repairHere).toBe(0)
          expect((await digestOf(database.address)).digest).toBe(digest)
        }
      }
      if (process.env.TEST_LOG !== undefined) process.stderr.write(`${JSON.stringify(outcomes)}\n`)
    } finally {
      await client.end()
      await rm(config, { recursive: true, force: true })
      await database.drop()
    }
  },
)
