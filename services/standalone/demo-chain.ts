import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError } from '../core/errors/index.ts'
import { createDevchain } from '../devchain/index.ts'
import type { Devchain } from '../devchain/index.ts'
import { readOwnFile } from './embedded-postgres/index.ts'

/** A running demo chain and the URLs of its node. */
export interface DemoChain {
  readonly chain: Devchain
  readonly shipUrl: string
  readonly httpUrl: string
  /** True if the chain is new; false if it continues the chain of an earlier run in the data folder. */
  readonly isNew: boolean
}

/** Seed and start time; every run generates the same chain from them. */
interface ChainOrigin {
  readonly seed: number
  /** Epoch milliseconds of the first generated block. */
  readonly startTimeMs: number
}

const BLOCK_MS = 500
const SEED = 1
/** Probability that a block is followed by a fork: with two blocks a second, about one fork in two minutes. */
const FORK_CHANCE = 1 / 240
/**
 * Maximum number of blocks that a demo chain can have missed since its last run. If the chain has missed more blocks, a
 * new chain begins.
 */
const MOST_MISSED_BLOCKS = 20_000
const RETAIN_BYTES = 192 * 1024 * 1024

/**
 * Starts the demo chain: recorded blocks of a real chain, then a generated block every half second. With a data folder
 * the chain of the last run continues as if it had never stopped, because seed and start time determine every block.
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
    // With a data folder the chain has no forks: it is rebuilt from its seed and has to be the same in every run.
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
  const file = originFile(dataDir)
  const text = await readOwnFile(file)
  if (text === null) return null
  const origin = parseOrigin(text)
  if (origin !== null) return origin
  const message = `${file} does not describe a demo chain; without this file a new demo chain begins`
  throw new FatalError('DATA_FOLDER_DAMAGED', message)
}

function parseOrigin(text: string): ChainOrigin | null {
  try {
    const { seed, startTimeMs } = JSON.parse(text) as Partial<ChainOrigin>
    if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(startTimeMs)) return null
    return { seed: seed!, startTimeMs: startTimeMs! }
  } catch {
    return null
  }
}

async function writeOrigin(dataDir: string, origin: ChainOrigin): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  await writeFile(originFile(dataDir), `${JSON.stringify(origin)}\n`)
}
