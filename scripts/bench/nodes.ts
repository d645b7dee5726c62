/**
 * Measures catching up from several nodes. Each node is a separate process with a limited byte rate.
 * Usage: node dist/scripts/bench/nodes.js [--blocks 4000] [--megabytes 40] [--rounds 1]
 *
 * Reads blocks full of foreign transfers from one node and from four; then from five nodes, of which one stays healthy
 * and the others are killed (SIGKILL), stopped (SIGSTOP), slowed down to a trickle, and on another chain. The
 * resulting rows are compared with the rows of a run from a single unlimited node.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { runReader } from '../../services/filler/index.ts'
import type { ReaderStatus } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { digestDatabase } from '../../services/verify/index.ts'
import { createBareDatabase, createDatabase } from './databases.ts'
import { readerSettings } from './reader-settings.ts'

interface NodeProcess {
  readonly process: ChildProcess
  readonly shipUrl: string
  readonly httpUrl: string
  readonly chainId: string
  readonly last: number
}

/** Last block of the bundled recordings. The speed is measured after it. */
const RECORDED = 964
const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '4000' },
    megabytes: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '1' },
    log: { type: 'string', default: 'silent' },
  },
})
const [blocks, rounds] = [Number(values.blocks), Number(values.rounds)]
const rate = Number(values.megabytes) * 1e6
const logger = createLogger({ name: 'bench', level: values.log as 'silent', pretty: true })

async function startNode(bytesPerSecond: number, chainId?: string): Promise<NodeProcess> {
  const file = import.meta.filename.replace(/nodes\.(js|ts)$/, 'chain-process.$1')
  const args = [
    file,
    'foreign',
    String(blocks),
    String(bytesPerSecond),
    ...(chainId === undefined ? [] : [chainId]),
  ]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { process: child, ...(JSON.parse(line) as Omit<NodeProcess, 'process'>) }
}

/** Blocks read, and memory that this process used for them. */
interface Read {
  readonly seconds: number
  readonly residentMb: number
  readonly status: ReaderStatus | null
}

async function read(
  nodes: readonly NodeProcess[],
  database: DatabaseAddress,
  stopBlock: number,
  onBlocks: (received: number) => void = () => undefined,
): Promise<Read> {
  const [first] = nodes
  let status: ReaderStatus | null = null
  let residentMb = 0
  const startedAt = performance.now()
  await runReader(
    {
      settings: readerSettings({ stop_block: stopBlock }),
      database,
      chain: { chainId: first!.chainId, http: first!.httpUrl, ship: nodes.map(({ shipUrl }) => shipUrl) },
      logger,
      buildQueryIndexes: false,
      onStatus: (next) => {
        if (next.state !== 'stopped') status = next
        residentMb = Math.max(residentMb, process.memoryUsage().rss / 2 ** 20)
        onBlocks(next.receivedBlocks)
      },
    },
    new AbortController().signal,
  )
  return { seconds: (performance.now() - startedAt) / 1_000, residentMb, status }
}

async function digest(database: DatabaseAddress): Promise<string> {
  const client = await connectDatabase(database, { applicationName: 'bench' })
  try {
    return (await digestDatabase(client)).digest
  } finally {
    await client.end()
  }
}

const server = await startEmbeddedPostgres({ settings: { shared_buffers: '256MB' } })
const { host, port, user, password } = server
const admin = { host, port, user, password, database: 'postgres' }
const load = () => loadavg()[0]!.toFixed(1)
const nodes: NodeProcess[] = []
try {
  nodes.push(...(await Promise.all([rate, rate, rate, rate].map((each) => startNode(each)))))
  const last = nodes[0]!.last
  await read([nodes[0]!], await createDatabase(admin, 'recorded'), RECORDED)
  const best = [Infinity, Infinity]
  for (let round = 0; round < rounds; round++) {
    for (const [place, count] of [1, 4].entries()) {
      const database = await createBareDatabase(admin, `run_${round}_${place}`, 'recorded')
      const { seconds, residentMb, status } = await read(nodes.slice(0, count), database, last)
      best[place] = Math.min(best[place]!, seconds)
      const megabytes = (status?.receivedBytes ?? 0) / 1e6
      console.log(
        `${count} node${count === 1 ? '' : 's'} of ${values.megabytes} MB/s: ${blocks} blocks in ${seconds.toFixed(2)} s, ` +
          `about ${Math.round((blocks * 0.2955) / seconds)} MB/s; ${Math.round(residentMb)} MiB of memory; load average ${load()}` +
          (megabytes === 0 ? '' : `; the last status report counts ${Math.round(megabytes)} MB received`),
      )
    }
  }
  console.log(`four nodes are ${(best[0]! / best[1]!).toFixed(2)} times as fast as one`)

  const other = await startNode(rate, 'ab'.repeat(32))
  nodes.push(other)
  const faults = [
    { after: 0.2, what: 'killed', happen: () => nodes[1]!.process.kill('SIGKILL') },
    { after: 0.35, what: 'stopped', happen: () => nodes[2]!.process.kill('SIGSTOP') },
    { after: 0.5, what: 'slowed down', happen: () => nodes[3]!.process.stdin!.write('10000\n') },
  ]
  const faulty = await createDatabase(admin, 'faulty')
  const run = await read(nodes, faulty, last, (received) => {
    while (faults[0] !== undefined && received >= faults[0].after * last) {
      const fault = faults.shift()!
      fault.happen()
      console.log(`  after ${received} blocks one node is ${fault.what}`)
    }
  })
  console.log(
    `five nodes, of which one is killed, one stopped, one slowed down, one on another chain: ${run.seconds.toFixed(2)} s; ` +
      `${Math.round(run.residentMb)} MiB of memory; load average ${load()}`,
  )
  for (const { state, blocksReceived, faults: count, lastFault } of run.status?.nodes ?? [])
    console.log(
      `  ${state}: ${blocksReceived} blocks, ${count} faults${lastFault === null ? '' : `, ${lastFault}`}`,
    )
  nodes[0]!.process.stdin!.write('Infinity\n')
  const straight = await createDatabase(admin, 'straight')
  const { seconds } = await read([nodes[0]!], straight, last)
  const digests = [await digest(straight), await digest(faulty)]
  console.log(
    `the same blocks from one node without faults and without a rate limit: ${seconds.toFixed(2)} s`,
  )
  console.log(`digests ${digests.join(' and ')}: ${digests[0] === digests[1] ? 'equal' : 'NOT EQUAL'}`)
} finally {
  for (const { process: child } of nodes) child.kill('SIGKILL')
  await server.stop()
}
