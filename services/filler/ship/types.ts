import type { PronghornError } from '../../core/errors/index.ts'

/** Block number and id (64 lower-case hex digits), as in the database. */
export interface BlockPosition {
  readonly num: number
  readonly id: string
}

/** Block number and id as in a message: `id` is a view of 32 bytes, valid as long as the message. */
export interface WirePosition {
  readonly num: number
  readonly id: Uint8Array
}

/**
 * A node's reply to a status request. Ranges are half-open, [begin, end); begin and end are both 0 if the node does not
 * keep this log.
 */
export interface StatusResult {
  readonly kind: 'status'
  readonly head: WirePosition
  readonly lastIrreversible: WirePosition
  readonly traceBegin: number
  readonly traceEnd: number
  readonly stateBegin: number
  readonly stateEnd: number
  /** Chain id as hex digits or 32 bytes; null for EOSIO 2.0 and older, which do not send the chain id. */
  readonly chainId: string | Uint8Array | null
}

/**
 * A message with one block or none. `head` and `lib` are the node's head and last irreversible block when the node
 * built the message. Payloads are views into the message, without their length prefix.
 */
export interface BlocksResult {
  readonly kind: 'blocks'
  readonly head: WirePosition
  readonly lib: WirePosition
  readonly this: WirePosition | null
  readonly prev: WirePosition | null
  readonly block: Uint8Array | null
  readonly traces: Uint8Array | null
  readonly deltas: Uint8Array | null
}

/** The fields of a version 0 blocks request. `end` is exclusive, `havePositions` ascends. */
export interface BlocksRequest {
  readonly start: number
  readonly end: number
  readonly maxInFlight: number
  readonly havePositions: readonly BlockPosition[]
  readonly irreversibleOnly: boolean
  readonly fetchBlock: boolean
  readonly fetchTraces: boolean
  readonly fetchDeltas: boolean
}

/** Interface of a compiled protocol ABI, as the session needs it; implemented by `Protocol` of the decode folder. */
export interface ProtocolCodec {
  /** Throws a `DecodeError` when the frame does not fit the ABI. */
  decodeResult(frame: Uint8Array): StatusResult | BlocksResult
  encodeStatusRequest(): Uint8Array
  encodeBlocksRequest(request: BlocksRequest): Uint8Array
  encodeAck(messages: number): Uint8Array
  /**
   * Whether a block payload belongs to the block with this number and id. Without this function block ids are not
   * checked.
   */
  isBlock?(payload: Uint8Array, num: number, id: Uint8Array): boolean
  /**
   * The part of a block whose Merkle root differs from the root in the header, or null. Without this function the
   * content of blocks is not checked.
   */
  findFalseContent?(payload: Uint8Array, traces: Uint8Array | null): 'transactions' | 'actions' | null
}

/** A delivered block. The session has checked that the block links to the previously delivered one. */
export interface ShipBlock {
  /** Address of the node that sent the block, without credentials. */
  readonly node: string
  /** Size of the whole message; pass it to `release` once the block is processed. */
  readonly bytes: number
  readonly num: number
  /** Block id, a view of 32 bytes of the message. */
  readonly idBytes: Uint8Array
  /** Id of the previous block; null for the first block of a chain, or when the node does not send the id. */
  readonly prevIdBytes: Uint8Array | null
  /** Hex form of `idBytes`, created on first use. */
  readonly id: string
  /** Hex form of `prevIdBytes`, created on first use. */
  readonly prevId: string | null
  /** Head of the node when the node built the message. May be below `num` right after a fork. */
  readonly head: WirePosition
  /** Last irreversible block of the node when the node built the message. May be above `num` during catch-up. */
  readonly lib: WirePosition
  /** Packed `signed_block`; null if the block is the first in the node's log and the node lacks this payload. */
  readonly header: Uint8Array | null
  /** Packed `transaction_trace[]`; null if the block is the first in the node's log and the node lacks this payload. */
  readonly traces: Uint8Array | null
  /** Packed `table_delta[]`; null if the block is the first in the node's log and the node lacks this payload. */
  readonly deltas: Uint8Array | null
}

/** Position at which a stream has to continue: the only state that survives a reconnect. */
export interface ResumePosition {
  /** Last block that is applied or queued and will not be dropped; null before the first. */
  readonly lastApplied: BlockPosition | null
  /** Applied or queued blocks that can still be undone, ascending, `lastApplied` included. */
  readonly havePositions: readonly BlockPosition[]
  /** Highest block that can no longer be undone; 0 when every block can. */
  readonly irreversibleFloor: number
}

/**
 * Receives the blocks of a session. Every call is synchronous and in stream order. If a call throws, the session stops
 * and `run` rejects with the error.
 */
export interface ShipConsumer<P extends ProtocolCodec = ProtocolCodec> {
  /** Returns where the session has to resume. Called at the start, on every connect and on every fork. */
  resumePosition(): ResumePosition
  /** Passes the compiled protocol ABI of the node, on every connect: the node may have been upgraded. */
  onProtocol(protocol: P): void
  /**
   * Delivers the next block. The block counts as held until `release` is called for the block. `onBlock` may call
   * `release` itself.
   */
  onBlock(block: ShipBlock): void
  /**
   * The chain forked: the consumer must undo the blocks from `from` upwards. Afterwards `resumePosition().lastApplied`
   * must be below `from`. `onBlock` then delivers the new branch.
   */
  onFork(from: number): void
  /** The block at `stop_block` was delivered. `run` returns once all held blocks are released. */
  onEnd?(): void
}

/** The methods of a pino logger that the session uses. */
export interface ShipLogger {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** Delays and deadlines in milliseconds, with defaults that suit a real node. */
export interface ShipTiming {
  /** Time limit for the TCP connection and the websocket upgrade. */
  readonly handshakeTimeoutMs: number
  /** Time limit for the protocol ABI, and for each status reply. A node that replays blocks replies late. */
  readonly replyTimeoutMs: number
  readonly pingIntervalMs: number
  /** Time in which at least one byte must arrive after a ping. */
  readonly pongTimeoutMs: number
  /** The stream counts as stuck after this time without a result while the node holds credits. */
  readonly idleTimeoutMs: number
  /** Time that an unfinished message may stay below `minBytesPerSecond`. */
  readonly slowMessageTimeoutMs: number
  /** Minimum rate of an unfinished message, bytes a second. */
  readonly minBytesPerSecond: number
  /** Maximum time that one message may take, even if its bytes arrive fast enough. */
  readonly messageTimeoutMs: number
  /** Interval of status requests while the node is behind the reader. */
  readonly statusPollMs: number
  /** With several nodes: interval of status requests to each node that does not send blocks. */
  readonly watchPollMs: number
  /** With several nodes: time within which the streaming node must send a block that another node already has. */
  readonly takeoverMs: number
  /** With several nodes: time for which the streaming node may be on another branch than the others. */
  readonly otherBranchMs: number
  /** With several nodes: time to wait for a node that is behind the reader before another node is tried. */
  readonly behindTimeoutMs: number
  readonly backoffMinMs: number
  readonly backoffMaxMs: number
  /** Duration of a connection after which the back-off restarts from its minimum. */
  readonly goodServiceMs: number
}

/** A node and the blocks for which it is used. */
export interface NodeSettings {
  /** URL of the node, in one of the forms that `urls` allows. */
  readonly url: string
  /**
   * Share of the blocks relative to other nodes. The node with the greatest weight is also the first choice for
   * streaming at the head. Default 1.
   */
  readonly weight?: number
  /** First block to request from the node. Default: the first block that the node has. */
  readonly from?: number
  /** Last block to request from the node (inclusive). Default: no limit. */
  readonly to?: number
}

/** Blocks whose content is compared with the Merkle roots in their header. */
export type CheckedRoots = 'none' | 'reversible' | 'all'

/** Options of a session. Only `urls`, `startBlock`, `compileProtocol` and `logger` are required. */
export interface ShipSessionOptions<P extends ProtocolCodec = ProtocolCodec> {
  /**
   * `ws://`, `wss://` or `ws+unix:///path/to.sock` addresses of nodes of one chain. Several nodes are read in parallel
   * below the last irreversible block; above it, one node streams and the others are monitored.
   */
  readonly urls: readonly (string | NodeSettings)[]
  /** Expected chain id, 64 hex digits; compared with the node's status if the status contains one. */
  readonly chainId?: string | null
  /** First block to read when nothing is applied yet. No lower block is ever requested. */
  readonly startBlock: number
  /** Last block to read (inclusive); 0 means no end. */
  readonly stopBlock?: number
  readonly irreversibleOnly?: boolean
  /** Maximum number of messages that the node may send ahead (its credits). Default 50. */
  readonly prefetchBlocks?: number
  /** Number of messages to collect before an acknowledgement, at most half of `prefetchBlocks`. Default 20. */
  readonly minBlockConfirmation?: number
  /** Byte limit of held and in-flight messages; the credits shrink as the limit is approached. Default 64 MiB. */
  readonly maxBytesInFlight?: number
  /** Largest message accepted; at most 2^31 - 1. Default 256 MiB. */
  readonly maxMessageBytes?: number
  /** Nodes that a multi-node session must not read: address without credentials, and the reason. */
  readonly leftOut?: ReadonlyMap<string, PronghornError>
  /** Compare each block with its id, if the protocol supports the check. Default false. */
  readonly checkBlocks?: boolean
  /** With `checkBlocks`: blocks whose content is also compared with the Merkle roots in the header. Default none. */
  readonly checkRoots?: CheckedRoots
  /** Compiles the protocol ABI, the parsed JSON of a node's first frame, to a codec; throws if that is impossible. */
  readonly compileProtocol: (shipAbi: unknown) => P
  readonly logger: ShipLogger
  readonly timing?: Partial<ShipTiming>
  /** Random numbers for the jitter, from 0 (inclusive) to 1 (exclusive). Default `Math.random`. */
  readonly random?: () => number
}

/**
 * State of a session: `connecting` (socket, ABI, status), `waiting` (the node is behind the reader), `streaming`,
 * `backing-off` (after a lost connection), `ended`.
 */
export type ShipState = 'idle' | 'connecting' | 'waiting' | 'streaming' | 'backing-off' | 'ended'

/**
 * State of a node: `connecting`, `watched` (replies to status requests, sends no blocks), `reading` (sends a range of
 * blocks), `followed` (streams new blocks), `failed` (unused until the next attempt).
 */
export type ShipNodeState = 'connecting' | 'watched' | 'reading' | 'followed' | 'failed'

/** Snapshot of one node for the status report. Counts are since the start of the session. */
export interface ShipNodeStatus {
  /** URL of the node, without credentials. */
  readonly url: string
  readonly state: ShipNodeState
  /** Newest head that the node reported; null before the first status. */
  readonly headNum: number | null
  /** Number of blocks between the node's head and the newest head of all nodes; null before the first status. */
  readonly lagBlocks: number | null
  readonly blocksReceived: number
  readonly bytesReceived: number
  /** Number of times that the connection was lost, or that the reader left or refused the node. */
  readonly faults: number
  /** Reason of the node's last fault (see `faults`), for the operator; null before the first fault. */
  readonly lastFault: string | null
}

/** Snapshot of a session for health reports and metrics. Counts are since the start of the session. */
export interface ShipStatus {
  readonly state: ShipState
  /** Address of the node in use, without credentials. */
  readonly url: string
  /** Number of connections opened so far. */
  readonly connections: number
  readonly lastBlock: BlockPosition | null
  /** Newest head that a node reported; null before the first status. */
  readonly headNum: number | null
  /** Last irreversible block that a node reported; null before the first status. */
  readonly libNum: number | null
  /** Number of messages that the node may still send. */
  readonly credits: number
  readonly heldBlocks: number
  readonly heldBytes: number
  readonly blocksReceived: number
  readonly bytesReceived: number
  readonly forks: number
  /** Number of blocks that a node sent a second time and the session skipped. */
  readonly resentBlocks: number
  /** Milliseconds since the last complete message of any kind; null before the first message. */
  readonly sinceLastMessageMs: number | null
  /** Milliseconds since the last block; null before the first block. */
  readonly sinceLastBlockMs: number | null
  /** Bytes received after the last complete message: the beginning of the next message, or a few bytes of pongs. */
  readonly unfinishedBytes: number
  /** Reason why the last connection was lost, one line; null if no connection was lost. */
  readonly lastProblem: string | null
  /** Every configured node, in the order of the configuration. */
  readonly nodes: readonly ShipNodeStatus[]
}

/** A running or finished read of one chain. */
export interface ShipSession {
  /**
   * Reads until `stopBlock` was delivered and released, or until `signal` aborts; resolves in both cases. A lost
   * connection is reopened indefinitely. May be called once.
   * @throws FatalError `CHAIN_MISMATCH`, `SHIP_PROTOCOL`, `SHIP_RANGE_UNAVAILABLE`, `SHIP_RANGE_MISSING`,
   * `SHIP_MESSAGE_TOO_LARGE` or `FORK_BELOW_IRREVERSIBLE`, and whatever the consumer throws.
   */
  run(signal: AbortSignal): Promise<void>
  /**
   * Tells the session that the pipeline no longer holds `blocks` messages of `bytes` bytes in all, which frees
   * credits.
   */
  release(blocks: number, bytes: number): void
  status(): ShipStatus
}
