import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDevchain } from '../devchain/index.ts'
import type { Devchain } from '../devchain/index.ts'

/** A running demo chain and its addresses. */
export interface DemoChain {
  readonly chain: Devchain
  readonly shipUrl: string
  readonly httpUrl: string
  /** True when it is not the chain that an earlier run left in the data folder. */
  readonly isNew: boolean
}

/** Seed and start, from which each run reproduces the same chain. */
interface ChainOrigin {
  readonly seed: number
  /** Epoch milliseconds of the first generated block. */
  readonly startTimeMs: number
}

const BLOCK_MS = 500
const SEED = 1
/** Chance of a fork after a block: about one in two minutes. */
const FORK_CHANCE = 1 / 240
/** Blocks produced at start for the time since the last run; a longer absence begins a new chain. */
const MOST_MISSED_BLOCKS = 20_000
const RETAIN_BYTES = 192 * 1024 * 1024

/**
 * Starts the demo chain: a real chain's recorded blocks, then one block every half second. With a data folder the
 * chain of the last run continues, as if it had never stopped: everything on it follows from its seed and start.
 */
export async function startDemoChain(dataDir: string | null): Promise<DemoChain> {
  const stored = dataDir === null ? null : await readOrigin(dataDir)
  const missed = stored === null ? 0 : Math.ceil((Date.now() - stored.startTimeMs) / BLOCK_MS)
  const isNew = stored === null || missed < 0 || missed > MOST_MISSED_BLOCKS
  const origin = isNew ? { seed: SEED, startTimeMs: Math.ceil(Date.now() / BLOCK_MS) * BLOCK_MS } : stored
  const chain = createDevchain({
    seed: origin.seed,
    startTimeMs: origin.startTimeMs,
    blocks: isNew ? 0 : missed,
    live: { intervalMs: BLOCK_MS },
    // A chain that is rebuilt from its seed has to be the same chain.
    ...(dataDir === null ? { forks: FORK_CHANCE } : {}),
    retainBytes: RETAIN_BYTES,
  })
  const addresses = await chain.start()
  if (dataDir !== null && isNew) await writeOrigin(dataDir, origin)
  return { chain, ...addresses, isNew }
}

function originFile(dataDir: string): string {
  return join(dataDir, 'demo-chain.json')
}

async function readOrigin(dataDir: string): Promise<ChainOrigin | null> {
  const text = await readFile(originFile(dataDir), 'utf8').catch(() => null)
  if (text === null) return null
  const { seed, startTimeMs } = JSON.parse(text) as Partial<ChainOrigin>
  return Number.isSafeInteger(seed) && Number.isSafeInteger(startTimeMs)
    ? { seed: seed!, startTimeMs: startTimeMs! }
    : null
}

async function writeOrigin(dataDir: string, origin: ChainOrigin): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  await writeFile(originFile(dataDir), `${JSON.stringify(origin)}\n`)
}
