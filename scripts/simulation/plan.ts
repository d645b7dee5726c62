import { Random } from '../../services/devchain/index.ts'
import type { ChainPlan } from './chain-plan.ts'
import { refusalPlaces } from './databases.ts'
import type { RefusalPlace } from './databases.ts'
import { drawRefusal } from './refusals.ts'
import type { ReaderCount } from './readers.ts'

/** A fault of a session to the chain node. The fault occurs after `after` blocks results. */
export type SessionFault =
  | { readonly kind: 'duplicate' | 'missing' | 'garbage' | 'empty' | 'incomplete'; readonly after: number }
  /** A truncated frame: this share of its length is missing. */
  | { readonly kind: 'truncated'; readonly after: number; readonly share: number }
  /** The session sends nothing for `ms` milliseconds, then everything. */
  | { readonly kind: 'late'; readonly after: number; readonly ms: number }
  /** The connection stays open, but no byte is sent any more. */
  | { readonly kind: 'half-open'; readonly after: number }
  | { readonly kind: 'dripping'; readonly after: number; readonly bytesPerSecond: number }
  | { readonly kind: 'lost-rewinds'; readonly always: boolean }
  | { readonly kind: 'cut'; readonly after: number }
  | { readonly kind: 'no-protocol' }

/** One event of a seed's plan. Block numbers count from the last base block; `node` and `reader` are 0 or 1. */
export type Happening =
  | { readonly kind: 'grow'; readonly node: number; readonly blocks: number }
  /** A fork of one block if `isSingle` is set, otherwise a fork of the branch's depth. */
  | {
      readonly kind: 'fork'
      readonly node: number
      readonly branch: number
      readonly blocks: number
      readonly isSingle: boolean
    }
  | { readonly kind: 'fork-back'; readonly node: number; readonly blocks: number }
  | {
      readonly kind: 'restart'
      readonly node: number
      readonly behind: number
      readonly branch: number | null
    }
  | { readonly kind: 'reconnect'; readonly node: number }
  /** Faults of the next sessions, the first of which begins at once, and blocks for them. */
  | {
      readonly kind: 'sessions'
      readonly node: number
      readonly faults: readonly SessionFault[]
      readonly blocks: number
    }
  | { readonly kind: 'freeze-node' | 'thaw-node'; readonly node: number }
  | { readonly kind: 'end-database-sessions' | 'cancel-statements' }
  | {
      readonly kind: 'refuse'
      readonly place: RefusalPlace
      readonly state: string
      readonly message: string
      readonly times: number
    }
  | { readonly kind: 'cut-database'; readonly reader: number; readonly bytes: number }
  | {
      readonly kind: 'database-unavailable' | 'freeze-database'
      readonly reader: number
      readonly ms: number
    }
  | { readonly kind: 'clock'; readonly offsetMs: number }
  | { readonly kind: 'store'; readonly state: 'lost' | 'frozen' | 'back' }
  | { readonly kind: 'sigterm' | 'sigkill' | 'zombie'; readonly reader: number }
  /** A second filler starts while the first holds the lease; the node has more blocks for both fillers. */
  | { readonly kind: 'rival'; readonly reader: number; readonly node: number; readonly blocks: number }
  /** The session of a filler loses its lock, a second filler takes the lease, and the first one continues. */
  | { readonly kind: 'lost-lock'; readonly reader: number; readonly node: number; readonly blocks: number }
  /** A filler is killed during a rollback. */
  | {
      readonly kind: 'kill-in-undo'
      readonly reader: number
      readonly node: number
      readonly branch: number
      readonly blocks: number
    }

/** An event of a seed's plan, and the wait after it: until the readers have caught up, or a number of milliseconds. */
export interface Step {
  readonly happening: Happening
  readonly then: 'caught-up' | number
  /** Whether all invariants are checked after this step, not only the positions. */
  readonly check: boolean
}

/** Everything that the seed decides, except the chain. */
export interface SeedPlan {
  readonly seed: number
  /** Whether fillers run as separate processes, which costs seconds. */
  readonly isProcess: boolean
  readonly nodes: 1 | 2
  readonly readers: ReaderCount
  /** Whether fillers build the query indexes. */
  readonly buildsIndexes: boolean
  readonly libLagBlocks: number
  readonly irreversibleOnly: boolean
  readonly groupBlocks: number
  readonly prefetchBlocks: number
  readonly confirmations: number
  readonly maxBehind: number
  readonly steps: readonly Step[]
}

const weights = {
  grow: 30,
  fork: 14,
  'fork-back': 6,
  restart: 7,
  reconnect: 3,
  sessions: 14,
  'freeze-node': 2,
  'thaw-node': 3,
  'end-database-sessions': 4,
  'cancel-statements': 3,
  refuse: 7,
  'cut-database': 6,
  'database-unavailable': 2,
  'freeze-database': 2,
  clock: 3,
  store: 3,
  sigterm: 3,
  sigkill: 6,
  zombie: 2,
  rival: 4,
  'lost-lock': 6,
  'kill-in-undo': 4,
} satisfies Record<Happening['kind'], number>

/** One seed in this many runs its fillers as processes. */
const PROCESS_EVERY = 100

/** Draws the plan of a seed: the settings and events. */
export function drawPlan(seed: number, { tree }: ChainPlan): SeedPlan {
  const random = new Random(`seed ${seed}`)
  const nodes = random.chance(0.25) ? 2 : 1
  const isProcess = seed % PROCESS_EVERY === 0
  // A filler process runs all configured readers, but the simulation starts one filler per reader.
  const readers = random.chance(0.2) && !isProcess ? 2 : 1
  return {
    seed,
    isProcess,
    nodes,
    readers,
    buildsIndexes: random.chance(0.1),
    libLagBlocks: random.chance(0.2) ? random.between(1, 3) : random.between(3, tree.length),
    irreversibleOnly: random.chance(0.08),
    groupBlocks: random.pick([1, 1, 3, 10, 50]),
    prefetchBlocks: random.pick([2, 3, 10, 50]),
    confirmations: random.pick([1, 2, 10]),
    maxBehind: random.pick([1, 3, 200]),
    steps: Array.from({ length: random.between(6, 16) }, () => ({
      happening: drawHappening(random, { nodes, readers }, tree),
      then: random.chance(0.35) ? ('caught-up' as const) : random.between(0, random.pick([0, 4, 25])),
      check: random.chance(0.04),
    })),
  }
}

function drawHappening(
  random: Random,
  counts: Readonly<Record<'nodes' | 'readers', number>>,
  tree: ChainPlan['tree'],
): Happening {
  const kind = random.weighted(weights)
  const node = random.below(counts.nodes)
  const reader = random.below(counts.readers)
  switch (kind) {
    case 'grow':
      return { kind, node, blocks: random.between(1, random.pick([2, 4, 12])) }
    case 'fork':
      return {
        kind,
        node,
        branch: random.below(tree.lost.length),
        blocks: random.between(1, 14),
        isSingle: random.chance(0.6),
      }
    case 'rival':
    case 'lost-lock':
      return { kind, reader, node, blocks: random.between(1, 4) }
    case 'kill-in-undo':
      return {
        ...{ kind, reader, node },
        branch: random.below(tree.lost.length),
        blocks: random.between(1, 4),
      }
    case 'sigterm':
    case 'sigkill':
    case 'zombie':
      return { kind, reader }
    case 'fork-back':
      return { kind, node, blocks: random.between(1, 10) }
    case 'restart':
      return {
        kind,
        node,
        behind: random.between(0, 12),
        branch: random.chance(0.4) ? random.below(tree.lost.length) : null,
      }
    case 'sessions':
      return {
        kind,
        node,
        faults: Array.from({ length: random.between(1, 3) }, () => drawSessionFault(random)),
        blocks: random.between(1, 6),
      }
    case 'reconnect':
    case 'freeze-node':
    case 'thaw-node':
      return { kind, node }
    case 'refuse': {
      const place = random.pick(refusalPlaces)
      return { kind, place, ...drawRefusal(random), times: random.between(1, random.pick([1, 3, 9])) }
    }
    case 'cut-database':
      return { kind, reader, bytes: Math.floor(random.fraction() ** 3 * 400_000) }
    case 'database-unavailable':
    case 'freeze-database':
      return { kind, reader, ms: random.between(1, 60) }
    case 'clock':
      return { kind, offsetMs: random.between(-1_000_000_000, 1_000_000_000) }
    case 'store':
      return { kind, state: random.pick(['lost', 'frozen', 'back'] as const) }
    default:
      return { kind }
  }
}

function drawSessionFault(random: Random): SessionFault {
  const after = random.between(0, random.pick([0, 2, 5]))
  const kind = random.weighted({
    duplicate: 3,
    missing: 3,
    garbage: 1,
    truncated: 2,
    empty: 1,
    incomplete: 1,
    late: 3,
    'half-open': 1,
    dripping: 1,
    'lost-rewinds': 3,
    cut: 3,
    'no-protocol': 1,
  })
  switch (kind) {
    case 'truncated':
      return { kind, after, share: random.fraction() }
    case 'late':
      return { kind, after, ms: random.between(1, 60) }
    case 'dripping':
      return { kind, after, bytesPerSecond: random.pick([100, 100_000, 1_000_000]) }
    case 'lost-rewinds':
      return { kind, always: random.chance(0.5) }
    case 'no-protocol':
      return { kind }
    default:
      return { kind, after }
  }
}
