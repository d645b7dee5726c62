import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import { MirrorNode } from '../../scripts/lab/index.ts'
import { describeWithRedis } from '../setup/redis.ts'
import { Rig, targetOf } from './rig.ts'
import { patient } from '../setup/patience.ts'

/** Maximum time in ms until health reports a fault, and until the system is healthy after the fault. */
const SEEN_MS = 180_000
const OVER_MS = 120_000

interface Fault {
  readonly name: string
  readonly begin: () => unknown
  readonly end: () => unknown
  readonly retried: string
  /** Whether `/health` may report healthy during the fault, because the fault loses nothing and delays no request. */
  readonly maySeeNothing?: boolean
  /** Whether the fault needs a mounted file system of limited size. */
  readonly needsSmallDisk?: boolean
}

/** Number of blocks that a pruned node lacks, and number of blocks that it still has. */
const PRUNED_BLOCKS = 10
const LEFT_BLOCKS = 5

interface Row {
  readonly name: string
  readonly said: string
  readonly seenMs: number | undefined
  readonly answered: string
  readonly retried: string
  readonly overMs: number
  readonly lost: number
}

let rig: Rig
let other: Devchain
let pruned: MirrorNode | undefined
const rows: Row[] = []
const hogs: pg.Client[] = []

describeWithRedis('the parts under faults', () => {
  beforeAll(async () => {
    rig = new Rig()
    await rig.start()
    other = createDevchain({ recordings: ['main'], blocks: 50, seed: 2, live: { intervalMs: 500 } })
    await untilWell()
  }, patient(120_000))
  afterAll(async () => {
    await other.stop()
    await rig.stop()
    if (process.env.PRONGHORN_WRITE_FAULTS === '1' && rows.length > 0)
      writeFileSync(join(packageRoot, 'docs/faults.md'), page())
  }, patient(60_000))

  const database = 'The filler retries with growing delays, the api with each request.'
  const node = 'The filler reconnects with growing delays.'
  const store =
    'The filler and the api reconnect by themselves. Without Redis each process counts requests and caches answers by itself.'
  const faults: readonly Fault[] = [
    {
      name: 'PostgreSQL stopped, and started again later',
      begin: () => rig.postgres.stop(),
      end: restartPostgres,
      retried: database,
    },
    {
      name: 'PostgreSQL killed, and restarted at once',
      begin: async () => {
        rig.signalPostgres('SIGKILL')
        await rig.postgres.stop()
        await restartPostgres()
      },
      end: () => undefined,
      retried: database,
      maySeeNothing: true,
    },
    {
      name: 'PostgreSQL frozen',
      begin: () => {
        rig.signalPostgres('SIGSTOP')
      },
      end: () => {
        rig.signalPostgres('SIGCONT')
      },
      retried: database,
    },
    {
      name: 'PostgreSQL out of connections',
      begin: useUpConnections,
      end: freeConnections,
      retried: database,
    },
    {
      name: 'PostgreSQL read-only',
      begin: () => setReadOnly(true),
      end: () => setReadOnly(false),
      retried: 'The filler retries with growing delays; the api continues.',
    },
    {
      name: 'PostgreSQL out of disk',
      begin: () => {
        rig.disk.fill()
      },
      end: async () => {
        rig.disk.free()
        await rig.revivePostgres()
      },
      retried: `${database} If the server has exited because it could not write, the service manager restarts the server.`,
      needsSmallDisk: true,
    },
    {
      name: 'PostgreSQL killed; the replica promoted later',
      begin: async () => {
        rig.signalPostgres('SIGKILL')
        await rig.postgres.stop()
      },
      end: () => rig.failOver(),
      retried: `${database} Blocks that the replica had not received are indexed again.`,
    },
    { name: 'Redis stopped', begin: () => rig.redis.kill(), end: () => rig.redis.start(), retried: store },
    {
      name: 'Redis frozen',
      begin: () => {
        rig.redis.freeze()
      },
      end: () => {
        rig.redis.thaw()
      },
      retried: store,
    },
    {
      name: 'Redis wiped',
      begin: wipeRedis,
      end: () => undefined,
      retried: 'Nothing: rate limits are counted anew, and answers are cached anew.',
      maySeeNothing: true,
    },
    {
      name: 'node unreachable',
      begin: () => {
        rig.nodeGate.lead(undefined)
      },
      end: () => {
        rig.nodeGate.lead(targetOf(rig.node.shipUrl))
      },
      retried: node,
    },
    {
      name: 'node silent: the connection is open, but no data arrives',
      begin: () => {
        rig.nodeGate.hang()
      },
      end: () => undefined,
      retried: `${node} The filler closes a silent connection by itself.`,
    },
    {
      name: 'node too slow: 100 bytes a second of a message of 100 MB',
      begin: () => {
        rig.nodeGate.drip()
      },
      end: () => undefined,
      retried: `${node} The filler closes a connection whose message is too slow.`,
    },
    {
      name: 'node replaced by a node of another chain',
      begin: async () => {
        const { shipUrl } = await other.start()
        rig.nodeGate.lead(targetOf(shipUrl))
      },
      end: () => {
        rig.nodeGate.lead(targetOf(rig.node.shipUrl))
      },
      retried: node,
    },
    {
      name: 'node pruned: the node no longer has the next blocks',
      begin: leadToPrunedNode,
      end: async () => {
        rig.nodeGate.lead(targetOf(rig.node.shipUrl))
        await pruned?.stop()
      },
      retried: node,
    },
  ]

  it.for(faults)(
    '$name',
    { timeout: SEEN_MS + OVER_MS + 60_000 },
    async ({ name, begin, end, retried, maySeeNothing, needsSmallDisk }, context) => {
      if (needsSmallDisk && !rig.disk.isSmall) context.skip('file systems cannot be mounted here')
      // The measured times of a fault must include neither the back-off after the previous fault nor the pause of the
      // chain during the fault `lostRows`. So restart the filler, and wait until the filler is healthy at the head.
      await rig.restartFiller()
      await untilWell()
      const startedMs = performance.now()
      await begin()
      const seen = await untilSaid(maySeeNothing ? 5_000 : SEEN_MS)
      if (!maySeeNothing) expect(seen).toBeDefined()
      const answered = String(await rig.listStatus())
      const endedMs = performance.now()
      await end()
      await untilWell()
      const overMs = performance.now() - endedMs
      const lost = await rig.lostRows()
      rows.push({
        ...{ name, answered, retried, overMs, lost },
        said: seen?.said ?? 'nothing: the fault ended before the next poll',
        seenMs: seen && seen.atMs - startedMs,
      })
      console.log(JSON.stringify(rows.at(-1)))
      expect(lost).toBe(0)
    },
  )

  async function restartPostgres(): Promise<void> {
    await rig.startPostgres()
    rig.databaseGate.lead(rig.postgres)
  }

  async function useUpConnections(): Promise<void> {
    const admin = await connectDatabase(rig.direct, { applicationName: 'hog' })
    hogs.push(admin)
    const hog = async (): Promise<boolean> => {
      try {
        hogs.push(await connectDatabase(rig.direct, { applicationName: 'hog' }))
        return true
      } catch {
        return false
      }
    }
    while (await hog());
    const ofProgram = "application_name <> 'hog' AND backend_type = 'client backend'"
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofProgram}`)
    for (let calm = 0; calm < 20; calm++) if (await hog()) calm = 0
  }

  async function freeConnections(): Promise<void> {
    await Promise.all(hogs.splice(0).map((hog) => hog.end()))
  }

  async function wipeRedis(): Promise<void> {
    const client = new Redis(rig.redis.port, '127.0.0.1')
    await client.flushall()
    await client.quit()
  }

  async function leadToPrunedNode(): Promise<void> {
    rig.nodeGate.lead(undefined)
    const first = rig.chain.head().num + PRUNED_BLOCKS
    while (rig.chain.head().num < first + LEFT_BLOCKS) await sleep(100)
    pruned = new MirrorNode(rig.chain, { first })
    rig.nodeGate.lead(targetOf(await pruned.start()))
  }

  async function setReadOnly(isReadOnly: boolean): Promise<void> {
    const admin = await connectDatabase(rig.direct, { applicationName: 'test' })
    await admin.query('SET default_transaction_read_only = off')
    await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
    await admin.query('SELECT pg_reload_conf()')
    await admin.end()
  }

  /** Polls health until its status is not `healthy`; returns that status with its reasons. */
  async function untilSaid(withinMs: number): Promise<{ said: string; atMs: number } | undefined> {
    const untilMs = performance.now() + withinMs
    while (performance.now() < untilMs) {
      const { status, reasons } = await rig.health()
      if (status !== 'healthy') return { said: `${status}: ${reasons.join('; ')}`, atMs: performance.now() }
      await sleep(100)
    }
    return undefined
  }

  /** Waits until health is `healthy` and the database has the block that is the head at the call. */
  async function untilWell(): Promise<void> {
    const head = rig.chain.head().num
    const untilMs = performance.now() + OVER_MS
    for (;;) {
      const { status, reasons, block } = await rig.health().catch(() => ({
        ...{ status: 'no answer', reasons: [] as string[], block: 0 },
      }))
      if (status === 'healthy' && block >= head) return
      if (performance.now() > untilMs)
        throw new Error(`not well: ${status} ${reasons.join('; ')}, block ${block} of ${head}`)
      await sleep(100)
    }
  }
})

function page(): string {
  const seconds = (ms: number | undefined): string => (ms === undefined ? '' : (ms / 1_000).toFixed(1))
  const lines = rows.map(
    ({ name, said, seenMs, answered, retried, overMs, lost }) =>
      `| ${name} | ${said} | ${seconds(seenMs)} | ${answered} | ${retried} | ${seconds(overMs)} | ${lost} |`,
  )
  return `<!-- Written by PRONGHORN_WRITE_FAULTS=1 npx vitest run --config vitest.rehearsal.config.ts tests/faults -->

# Faults

This page lists the effect of each fault. A test causes the faults with real components on one machine: a chain with a block
every half second, a filler that is restarted when it exits, an api, Redis and PostgreSQL. Afterwards the test compares
every row of every table with a database that was indexed without a fault.

Times are in seconds. "Reported after": from the beginning of the fault until \`/health\` is no longer healthy. "Healthy
again after": from the end of the fault until \`/health\` is healthy and the newest block is indexed. For a fault that ends
by itself this time starts when \`/health\` has reported the fault.

| Fault | First report of \`/health\` | Reported after | Status of a list request | Recovery | Healthy again after | Lost rows |
| --- | --- | --- | --- | --- | --- | --- |
${lines.join('\n')}

Other tests: refused writes in \`tests/integration/database-refusals.test.ts\`, connections that break at any byte in
\`tests/integration/database-unavailable.test.ts\`, replicas in \`tests/api/replicas.test.ts\`, killed containers in
\`tests/appliance/faults.rehearsal.ts\`.
`
}
