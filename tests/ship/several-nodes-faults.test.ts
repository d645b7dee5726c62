import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Random } from '../../services/devchain/index.ts'
import type { ShipSession } from '../../services/filler/index.ts'
import { patient } from '../setup/patience.ts'
import { roundSeeds } from '../setup/seeds.ts'
import { Collector } from './collector.ts'
import { Harness } from './harness.ts'
import type { NodeScript, ScriptedNode } from './scripted-node.ts'
import { blockId } from './wire.ts'
import type { TestBlock } from './wire.ts'

const harness = new Harness()
afterEach(() => harness.close())

type Tamper = NodeScript['tamper']

/** Faults of a node by name. Each damages or omits random messages of the node. */
const tampers: Readonly<Record<string, (random: Random) => Tamper>> = {
  silence: (random) => afterBlocks(random.below(1_000), () => null),
  garbage: (random) => withChance(random, 0.002, () => Buffer.from('01ffff', 'hex')),
  'an empty frame': (random) => withChance(random, 0.002, () => Buffer.alloc(0)),
  holes: (random) => withChance(random, 0.002, () => null),
  'no traces': (random) => withChance(random, 0.01, (block) => ({ ...block, traces: null })),
  'no deltas': (random) => withChance(random, 0.01, (block) => ({ ...block, deltas: null })),
  'blocks of other parents': (random) =>
    withChance(random, 0.002, (block) => ({ ...block, prevId: Buffer.alloc(32, 7) })),
}

function afterBlocks(count: number, spoil: (block: TestBlock) => ReturnType<Tamper>): Tamper {
  let sent = 0
  return (block) => (sent++ < count ? block : spoil(block))
}

function withChance(random: Random, chance: number, spoil: (block: TestBlock) => ReturnType<Tamper>): Tamper {
  return (block) => (random.chance(chance) ? spoil(block) : block)
}

/** Makes the consumer report processed blocks late and in groups. */
function releaseLate(collector: Collector, random: Random): NodeJS.Timeout {
  let held = 0
  let bytes = 0
  collector.holds = true
  const most = random.pick([1, 50, 5_000])
  collector.inspect = (block) => {
    held += 1
    bytes += block.bytes
  }
  return setInterval(
    () => {
      const count = Math.min(held, random.between(1, most))
      if (count === 0) return
      const share = count === held ? bytes : Math.floor((bytes * count) / held)
      held -= count
      bytes -= share
      collector.session!.release(count, share)
    },
    random.between(1, 4),
  )
}

interface StartedNode {
  readonly node: ScriptedNode
  readonly kind: string
  readonly address: { readonly url: string; readonly weight: number }
  /** Adds blocks to the node, some of them irreversible. */
  readonly grow: (blocks: number) => void
}

/** Starts nodes, of which only the first is guaranteed to be free of faults. */
async function startNodes(random: Random, count: number): Promise<StartedNode[]> {
  const isGrowing = random.chance(0.3)
  const size = random.pick([0, 0, 2_000, 20_000])
  const drawn = Array.from({ length: random.between(2, 4) }, (_, place) => {
    const kind = place === 0 ? 'nothing' : random.pick([...Object.keys(tampers), 'nothing', 'another chain'])
    const first = random.chance(0.3) ? random.between(1, count) : 1
    const end = random.chance(0.3) ? random.between(first, count) + 1 : count + 1
    const isWhole = place === 0 || random.chance(0.6)
    const ranges = isWhole ? {} : { traceBegin: first, stateBegin: first, traceEnd: end, stateEnd: end }
    return { kind, ranges, weight: random.pick([1, 1, 5]) }
  })
  return Promise.all(
    drawn.map(async ({ kind, ranges, weight }) => {
      const { node, url } = await harness.node({ ranges, chainId: null })
      const deltas = Buffer.alloc(size)
      const spoil = tampers[kind]?.(random) ?? ((block: TestBlock) => block)
      node.script.tamper = (block, connection) =>
        spoil(size > 0 && block.num % 3 === 0 ? { ...block, deltas } : block, connection)
      const branch = kind === 'another chain' ? 'other' : 'a'
      const lag = random.between(1, 10)
      const grow = (blocks: number): void => {
        node.libNum = Math.max(0, node.chain.length - 1) + blocks - lag
        node.extend(blocks, branch)
      }
      grow(isGrowing ? random.between(20, count) : count)
      return { node, kind, address: { url, weight }, grow }
    }),
  )
}

function killSome(random: Random, nodes: readonly StartedNode[]): NodeJS.Timeout {
  return setInterval(
    () => {
      const { node } = random.pick([...nodes])
      for (const { socket } of node.connections) socket.terminate()
    },
    random.between(50, 500),
  )
}

/** Adds blocks to random nodes at random times, until each has `count` blocks. */
function growAll(random: Random, nodes: readonly StartedNode[], count: number): NodeJS.Timeout {
  return setInterval(() => {
    const { node, grow } = random.pick([...nodes])
    const left = count + 1 - node.chain.length
    if (left > 0) grow(Math.min(left, random.between(1, 60)))
  }, 4)
}

/** Waits for the time limit, then returns the state of a session that did not end, for the failure message. */
async function stuck(session: ShipSession, nodes: readonly StartedNode[]): Promise<unknown> {
  await delay(patient(45_000), undefined, { ref: false })
  return { status: session.status(), kinds: nodes.map(({ kind }) => kind) }
}

test.each(roundSeeds(6, 100))('a session on faulty nodes gets each block in order, seed %d', async (seed) => {
  const random = new Random(`several nodes ${seed}`)
  const count = random.between(100, 2_500)
  const nodes = await startNodes(random, count)
  const collector = new Collector()
  const ids = Array.from({ length: count }, (_, index) => blockId(index + 1, 'a').toString('hex'))
  collector.blocks.push({ num: 1, id: ids[0]! })
  const timers = [
    growAll(random, nodes, count),
    ...(random.chance(0.5) ? [releaseLate(collector, random)] : []),
    ...(random.chance(0.4) ? [killSome(random, nodes)] : []),
  ]
  const addresses = random.chance(0.5) ? nodes : [...nodes].reverse()
  const maxBytesInFlight = random.pick([2 ** 18, 2 ** 20, 2 ** 24])
  const run = harness.read(
    addresses.map(({ address }) => address),
    { stopBlock: count, maxBytesInFlight },
    collector,
  )
  const problem = await Promise.race([run.done, stuck(run.session, nodes)])
  for (const timer of timers) clearInterval(timer)
  expect(problem).toBeUndefined()
  expect(collector.blocks.map(({ id }) => id)).toEqual(ids)
})
