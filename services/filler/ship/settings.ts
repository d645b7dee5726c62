import { FatalError } from '../../core/errors/index.ts'
import type { PronghornError } from '../../core/errors/index.ts'
import type { BackoffSettings } from '../../core/retry/index.ts'
import { parseAddress } from './address.ts'
import type { NodeAddress } from './address.ts'
import type {
  CheckedRoots,
  NodeSettings,
  ProtocolCodec,
  ShipLogger,
  ShipSessionOptions,
  ShipTiming,
} from './types.ts'

/**
 * Largest possible message limit. `ws` counts in signed 32-bit integers and takes a larger limit for "no limit"; a
 * message above Node's largest buffer would then crash the process.
 */
const LARGEST_MESSAGE_BYTES = 2 ** 31 - 1

/** Default message limit: far above any real block, and below the memory that a filler can spare. */
export const DEFAULT_MESSAGE_BYTES = 256 * 2 ** 20

/** Default time limits and delays of a session. */
export const defaultTiming: ShipTiming = {
  handshakeTimeoutMs: 15_000,
  replyTimeoutMs: 60_000,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 20_000,
  idleTimeoutMs: 120_000,
  slowMessageTimeoutMs: 30_000,
  minBytesPerSecond: 16 * 1024,
  messageTimeoutMs: 900_000,
  statusPollMs: 2_000,
  watchPollMs: 250,
  takeoverMs: 600,
  otherBranchMs: 3_000,
  behindTimeoutMs: 60_000,
  backoffMinMs: 1_000,
  backoffMaxMs: 60_000,
  goodServiceMs: 60_000,
}

/** A configured node with all defaults filled in. */
export interface UsedNode extends NodeAddress {
  readonly weight: number
  readonly from: number
  /** Last block that may be requested from the node; Infinity if unlimited. */
  readonly to: number
}

/** Session options with every default filled in. */
export interface ShipSettings<P extends ProtocolCodec = ProtocolCodec> {
  readonly addresses: readonly UsedNode[]
  readonly chainId: string | null
  readonly startBlock: number
  /** Last block to read; Infinity if unlimited, so that comparisons need no special case. */
  readonly stopBlock: number
  readonly irreversibleOnly: boolean
  readonly window: number
  readonly ackBatch: number
  readonly maxBytes: number
  readonly maxMessageBytes: number
  readonly leftOut: ReadonlyMap<string, PronghornError>
  readonly checkBlocks: boolean
  readonly checkRoots: CheckedRoots
  readonly compileProtocol: (shipAbi: unknown) => P
  readonly logger: ShipLogger
  readonly timing: ShipTiming
  readonly random: () => number
}

function atLeastOne(value: number | undefined, fallback: number): number {
  return Math.max(1, Math.floor(value ?? fallback))
}

function useNode(node: string | NodeSettings): UsedNode {
  const { url, weight, from, to }: NodeSettings = typeof node === 'string' ? { url: node } : node
  return {
    ...parseAddress(url),
    weight: Math.max(0.01, weight ?? 1),
    from: atLeastOne(from, 1),
    to: to === undefined || to <= 0 ? Infinity : to,
  }
}

/**
 * Replaces absent session options by their defaults.
 * @throws FatalError `CONFIG_INVALID` when no usable node address is configured.
 */
export function resolveSettings<P extends ProtocolCodec>(options: ShipSessionOptions<P>): ShipSettings<P> {
  if (options.urls.length === 0) {
    throw new FatalError('CONFIG_INVALID', 'no state-history address is configured')
  }
  const window = atLeastOne(options.prefetchBlocks, 50)
  return {
    addresses: options.urls.map(useNode),
    chainId: options.chainId?.toLowerCase() ?? null,
    startBlock: atLeastOne(options.startBlock, 1),
    stopBlock: options.stopBlock === undefined || options.stopBlock <= 0 ? Infinity : options.stopBlock,
    irreversibleOnly: options.irreversibleOnly ?? false,
    window,
    ackBatch: Math.min(atLeastOne(options.minBlockConfirmation, 20), Math.max(1, Math.floor(window / 2))),
    maxBytes: atLeastOne(options.maxBytesInFlight, 64 * 2 ** 20),
    maxMessageBytes: Math.min(
      atLeastOne(options.maxMessageBytes, DEFAULT_MESSAGE_BYTES),
      LARGEST_MESSAGE_BYTES,
    ),
    leftOut: options.leftOut ?? new Map(),
    checkBlocks: options.checkBlocks ?? false,
    checkRoots: options.checkRoots ?? 'none',
    compileProtocol: options.compileProtocol,
    logger: options.logger,
    timing: { ...defaultTiming, ...options.timing },
    random: options.random ?? Math.random,
  }
}

/**
 * Delays between attempts to connect to a node. Half of each delay is random, so that readers that lost the same node
 * do not reconnect at the same time.
 */
export function connectBackoff(
  settings: Pick<ShipSettings, 'timing' | 'random'>,
  longestMs = Infinity,
): BackoffSettings {
  const { timing, random } = settings
  return {
    firstMs: timing.backoffMinMs,
    longestMs: Math.min(timing.backoffMaxMs, longestMs),
    jitter: 0.5,
    random,
  }
}
