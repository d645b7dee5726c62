/**
 * The chain of a measurement, in a process of its own. Usage: chain-process.js KIND BLOCKS. Prints one line of JSON:
 * {"shipUrl", "httpUrl", "chainId", "first", "last", "bytes", "events"}.
 */
import {
  benchBlocks,
  createDevchain,
  denseMarketMix,
  denseMix,
  denseRate,
} from '../../services/devchain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'

const [kind, count] = [process.argv[2], Number(process.argv[3])]
const retainBytes = 4 * 1024 ** 3

function buildChain(): Devchain {
  if (kind === 'dense' || kind === 'market') {
    return createDevchain({
      recordings: ['main', 'v2'],
      blocks: count,
      rate: denseRate,
      mix: kind === 'dense' ? denseMix : denseMarketMix,
      seed: 7,
      retainBytes,
      libLagBlocks: 0,
    })
  }
  if (kind !== 'foreign' && kind !== 'empty') throw new Error(`no such kind of chain: ${String(kind)}`)
  const start = createDevchain({ recordings: ['main', 'v2'] })
  const head = start.block(start.head().num)!
  const after = { num: head.num, id: head.id, slot: head.block!.readUInt32LE(0) }
  return createDevchain({
    recordings: ['main', 'v2'],
    append: benchBlocks(kind, count, after),
    retainBytes,
    libLagBlocks: 0,
  })
}

const chain = buildChain()
const { shipUrl, httpUrl } = await chain.start()
console.log(JSON.stringify({ shipUrl, httpUrl, chainId: chain.chainId, last: chain.head().num }))
process.on('SIGTERM', () => process.exit(0))
