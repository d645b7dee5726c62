/**
 * The chain of a benchmark, as a separate process.
 * Usage: chain-process.js KIND BLOCKS [BYTES_PER_SECOND [CHAIN_ID]]
 * Prints one line of JSON: {"shipUrl", "httpUrl", "chainId", "last"}. A number on standard input sets a new byte rate.
 */
import { createInterface } from 'node:readline'
import { createDevchain } from '../../services/devchain/index.ts'
import type { ActivityMix, Devchain } from '../../services/devchain/index.ts'
import { benchBlocks, denseMarketMix, denseMix, DENSE_RATE, MirrorNode } from '../lab/index.ts'

const [kind, count] = [process.argv[2], Number(process.argv[3])]
const [bytesPerSecond, chainId] = process.argv.slice(4)
const RETAIN_BYTES = 4 * 1024 ** 3

/** Frequencies of transactions that produce almost only one kind of event. No generated block is irreversible. */
const events: Readonly<Record<string, ActivityMix>> = {
  transfer: { transfer: 1 },
  // Mints are needed too: only assets that were minted with mutable attributes are edited.
  edit: { editAsset: 1, mint: 0.05 },
  sale: { announceSale: 1 },
}

function buildChain(): Devchain {
  const mix = events[kind ?? '']
  if (mix) {
    const lag = count + 4
    return createDevchain({
      recordings: ['main', 'v2'],
      blocks: count,
      rate: 1,
      mix,
      seed: 7,
      libLagBlocks: lag,
    })
  }
  if (kind === 'dense' || kind === 'market') {
    return createDevchain({
      recordings: ['main', 'v2'],
      blocks: count,
      rate: DENSE_RATE,
      mix: kind === 'dense' ? denseMix : denseMarketMix,
      seed: 7,
      retainBytes: RETAIN_BYTES,
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
    retainBytes: RETAIN_BYTES,
    libLagBlocks: 0,
  })
}

const chain = buildChain()
const started = await chain.start()
const { httpUrl } = started
let { shipUrl } = started
if (bytesPerSecond !== undefined) {
  const node = new MirrorNode(chain, { libLagBlocks: 0, ...(chainId === undefined ? {} : { chainId }) })
  node.conduct.bytesPerSecond = Number(bytesPerSecond)
  shipUrl = await node.start()
  createInterface(process.stdin).on('line', (line) => {
    node.conduct.bytesPerSecond = Number(line)
  })
}
console.log(JSON.stringify({ shipUrl, httpUrl, chainId: chain.chainId, last: chain.head().num }))
process.on('SIGTERM', () => process.exit(0))
