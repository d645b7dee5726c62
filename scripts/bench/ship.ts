/**
 * Measures the state-history session alone: a reader that only acknowledges, against a node in another
 * process that makes blocks in memory. Prints blocks/s and MB/s for empty blocks (860 bytes) and for blocks
 * full of foreign transfers (290 kB). Usage: node dist/scripts/bench/ship.js [SHIP_ABI_FILE]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { compileProtocol } from '../../services/filler/index.ts'
import { createShipSession } from '../../services/filler/index.ts'
import type { ShipConsumer, ShipSession } from '../../services/filler/index.ts'

interface Load {
  readonly blocks: number
  readonly messageBytes: number
  readonly prefetchBlocks: number
}

const loads: readonly Load[] = [
  { blocks: 1_000_000, messageBytes: 860, prefetchBlocks: 10 },
  { blocks: 1_000_000, messageBytes: 860, prefetchBlocks: 50 },
  { blocks: 1_000_000, messageBytes: 860, prefetchBlocks: 1_000 },
  { blocks: 8_000, messageBytes: 290_000, prefetchBlocks: 50 },
]
const abiFile = process.argv[2] ?? join(packageRoot, 'services/devchain/recordings/main/ship-abi.json')
const nodeFile = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'ship-node.ts' : 'ship-node.js',
)

/** A pipeline that is done with every block at once. */
function acknowledgingConsumer(session: () => ShipSession): ShipConsumer {
  return {
    resumePosition: () => ({ lastApplied: null, havePositions: [], irreversibleFloor: 0 }),
    onProtocol: () => undefined,
    onBlock: (block) => session().release(1, block.bytes),
    onFork: (from) => {
      throw new Error(`unexpected fork at block ${from}`)
    },
  }
}

/** Reads one load to its end; returns seconds. */
async function measure(load: Load): Promise<number> {
  const node = spawn(process.execPath, [nodeFile, String(load.blocks), String(load.messageBytes), abiFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = (await once(node.stdout, 'data')) as [Buffer]
    const session: ShipSession = createShipSession(
      {
        urls: [`ws://127.0.0.1:${port.toString().trim()}`],
        startBlock: 1,
        stopBlock: load.blocks,
        prefetchBlocks: load.prefetchBlocks,
        minBlockConfirmation: load.prefetchBlocks / 2,
        compileProtocol: (abi) => compileProtocol(normalizeAbiJson(abi)),
        logger: { debug: () => undefined, info: () => undefined, warn: console.warn },
      },
      acknowledgingConsumer(() => session),
    )
    const startedAt = performance.now()
    await session.run(new AbortController().signal)
    return (performance.now() - startedAt) / 1_000
  } finally {
    node.kill()
  }
}

for (const load of loads) {
  const seconds = await measure(load)
  const rate = load.blocks / seconds
  const megabytes = (rate * load.messageBytes) / 1e6
  console.log(
    `${load.messageBytes} bytes, ${load.prefetchBlocks} ahead: ` +
      `${Math.round(rate)} blocks/s, ${Math.round(megabytes)} MB/s`,
  )
}
