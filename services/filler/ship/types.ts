import type { PronghornError } from '../../core/errors/index.ts'

/** A place in a chain as people and databases name it: block number and the 64 lower-case hex digits of its id. */
export interface BlockPosition {
  readonly num: number
  readonly id: string
}

/** A position in a chain as in a message: `id` is a view of 32 bytes, valid as long as the message. */
export interface WirePosition {
  readonly num: number
  readonly id: Uint8Array
}

/** A node's answer to a status request. Ranges are half-open, [begin, end); both 0 when the log is off. */
export interface StatusResult {
  readonly kind: 'status'
  readonly head: WirePosition
  readonly lastIrreversible: WirePosition
  readonly traceBegin: number
  readonly traceEnd: number
  readonly stateBegin: number
  readonly stateEnd: number
  /** Hex digits or 32 bytes; null when the node is too old to send it (EOSIO 2.0 and before). */
  readonly chainId: string | Uint8Array | null
}

/** One block, or a result without one. `head` and `lib` are those of the time at which the node built the message. Payloads are views into the message, without their length prefix.
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

/** Interface of a compiled protocol ABI for the session; `Protocol` of the decode folder is one. */
export interface ProtocolCodec {
  /** Throws a `DecodeError` when the frame does not fit the ABI. */
  decodeResult(frame: Uint8Array): StatusResult | BlocksResult
  encodeStatusRequest(): Uint8Array
  encodeBlocksRequest(request: BlocksRequest): Uint8Array
  encodeAck(messages: number): Uint8Array
  /** Whether a block payload is that of the block with this number and id. Blocks are not checked without it. */
  isBlock?(payload: Uint8Array, num: number, id: Uint8Array): boolean
  /** The part of a block whose Merkle root is not the one in the header, or null. Blocks are not checked so without this function. */
  findFalseContent?(payload: Uint8Array, traces: Uint8Array | null): 'transactions' | 'actions' | null
}

/** A block whose linkage to the one delivered before it has been verified. */
export interface ShipBlock {
  /** Address of the node that sent it, without credentials. */
  readonly node: string
  /** Size of the whole message; `release` takes it back. */
  readonly bytes: number
  readonly num: number
  /** View of 32 bytes of the message. */
  readonly idBytes: Uint8Array
  /** Null for the first block of a chain, or when the node does not send it. */
  readonly prevIdBytes: Uint8Array | null
  /** Hex form of `idBytes`, created on first use. */
  readonly id: string
  /** Hex form of `prevIdBytes`, created on first use. */
  readonly prevId: string | null
  /** Head of the node when it built the message. May be below `num` right after a fork. */
  readonly head: WirePosition
  /** Last irreversible block of the node at that time. May be above `num` during catch-up. */
  readonly lib: WirePosition
  /** Packed `signed_block`, or null where a node has none for the first block of its log. */
  readonly header: Uint8Array | null
  /** Packed `transaction_trace[]`, null as above. */
  readonly traces: Uint8Array | null
  /** Packed `table_delta[]`, null as above. */
  readonly deltas: Uint8Array | null
}

/** Where a stream has to continue: the only state that survives a reconnect. */
export interface ResumePosition {
  /** Last block that is applied or queued and will not be dropped; null before the first. */
  readonly lastApplied: BlockPosition | null
  /** Applied or queued blocks that can still be undone, ascending, `lastApplied` included. */
  readonly havePositions: readonly BlockPosition[]
  /** Highest block that can no longer be undone; 0 when every block can. */
  readonly irreversibleFloor: number
}

/**
 * The receiving end of a session. Every call is synchronous and comes in stream order; throwing stops the session, `run`
 * rejects with the error.
 */
export interface ShipConsumer<P extends ProtocolCodec = ProtocolCodec> {
  /** Asked on every connect, on every fork and at the start. */
  resumePosition(): ResumePosition
  /** The node's protocol ABI, compiled; on every connect, because a node may have been upgraded. */
  onProtocol(protocol: P): void
  /** The next block. It counts as held until `release` is called for it, which may happen in here. */
  onBlock(block: ShipBlock): void
  /**
   * The chain forked: blocks from `from` upwards are void. Afterwards `resumePosition().lastApplied` must be
   * below `from`. The new branch follows by `onBlock`.
   */
  onFork(from: number): void
  /** The block at `stop_block` was delivered; nothing follows. Release what is held to let `run` return. */
  onEnd?(): void
}

/** The part of a pino logger that the session uses. */
export interface ShipLogger {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** Delays and deadlines in milliseconds. Every one has a default that suits a real node. */
export interface ShipTiming {
  /** Time for TCP and the websocket upgrade. */
  readonly handshakeTimeoutMs: number
  /** Time for the protocol ABI, and again for each status reply. A node that replays answers late. */
  readonly replyTimeoutMs: number
  readonly pingIntervalMs: number
  /** Time in which at least one byte must arrive after a ping. */
  readonly pongTimeoutMs: number
  /** Time without any result, although the node holds credits, after which the stream counts as stuck. */
  readonly idleTimeoutMs: number
  /** Time in which a message that has begun must arrive with `minBytesPerSecond`. */
  readonly slowMessageTimeoutMs: number
  /** Bytes a second below which an unfinished message counts as stuck. */
  readonly minBytesPerSecond: number
  /** Longest time that one message may take, at whatever rate. */
  readonly messageTimeoutMs: number
  /** Interval of status requests while the node is behind the reader. */
  readonly statusPollMs: number
  /** With several nodes: interval of status requests to each idle one. */
  readonly watchPollMs: number
  /** With several nodes: time in which the streaming one must send a block that another one has. */
  readonly takeoverMs: number
  /** With several nodes: time for which the streaming one may be on its own branch. */
  readonly otherBranchMs: number
  /** Time to wait for a node that is behind before trying the next one, when there are several. */
  readonly behindTimeoutMs: number
  readonly backoffMinMs: number
  readonly backoffMaxMs: number
  /** Time of service after which the back-off starts again from its minimum. */
  readonly goodServiceMs: number
}

/** A node with what it is to be used for. */
export interface NodeSettings {
  /** Address as for `urls`. */
  readonly url: string
  /** Its share relative to other nodes; the heaviest is the first to stream at the head. Default 1. */
  readonly weight?: number
  /** First block that is requested from it. Default: the first that it has. */
  readonly from?: number
  /** Last block that is requested from it, itself included. Default: no last one. */
  readonly to?: number
}

/** Options of a session. Only `urls`, `startBlock`, `compileProtocol` and `logger` are required. */
export interface ShipSessionOptions<P extends ProtocolCodec = ProtocolCodec> {
  /**
   * `ws://`, `wss://` or `ws+unix:///path/to.sock` addresses of nodes of one chain. Several are read in parallel below the
   * last irreversible block; above it one streams and the others are monitored.
   */
  readonly urls: readonly (string | NodeSettings)[]
  /** 64 hex digits; compared with the node's status where it contains one. */
  readonly chainId?: string | null
  /** First block wanted when nothing is applied yet; also the lowest block ever requested. */
  readonly startBlock: number
  /** Last block wanted, itself included; 0 = no end. */
  readonly stopBlock?: number
  readonly irreversibleOnly?: boolean
  /** Most messages that the node may send ahead (its credits). Default 50. */
  readonly prefetchBlocks?: number
  /** Messages to collect before an acknowledgement. Lowered to half of the window. Default 20. */
  readonly minBlockConfirmation?: number
  /** Bytes that may be held or in flight; credits shrink as this fills. Default 64 MiB. */
  readonly maxBytesInFlight?: number
  /** Largest message accepted; at most 2^31 - 1. Default 256 MiB. */
  readonly maxMessageBytes?: number
  /** Addresses of nodes, without credentials, that are not read, each with the reason; for a session of several nodes. */
  readonly leftOut?: ReadonlyMap<string, PronghornError>
  /** Compare each block with its id, where the protocol can. Default false. */
  readonly checkBlocks?: boolean
  /** With `checkBlocks`: compare the content of each reversible block with the roots in its header too. Default false. */
  readonly checkRoots?: boolean
  /** Turns the parsed JSON of a node's first frame into a codec; throws when it cannot. */
  readonly compileProtocol: (shipAbi: unknown) => P
  readonly logger: ShipLogger
  readonly timing?: Partial<ShipTiming>
  /** Source of jitter, 0 inclusive to 1 exclusive. Default `Math.random`. */
  readonly random?: () => number
}

/**
 * What a session is doing: `connecting` (socket, ABI, status), `waiting` (the node is behind the reader),
 * `streaming`, `backing-off` (after a lost connection), `ended`.
 */
export type ShipState = 'idle' | 'connecting' | 'waiting' | 'streaming' | 'backing-off' | 'ended'

/**
 * What a node is doing: `connecting`, `watched` (it answers and sends no blocks), `reading` (it sends a range of
 * blocks), `followed` (it sends new blocks), `failed` (unused until it is tried again).
 */
export type ShipNodeState = 'connecting' | 'watched' | 'reading' | 'followed' | 'failed'

/** A snapshot of one node. Numbers count from the start of the session. */
export interface ShipNodeStatus {
  /** Address without credentials. */
  readonly url: string
  readonly state: ShipNodeState
  /** Its newest head; null before it is known. */
  readonly headNum: number | null
  /** Blocks by which its head is behind the newest head of all nodes; null before it is known. */
  readonly lagBlocks: number | null
  readonly blocksReceived: number
  readonly bytesReceived: number
  /** Times that it was lost, left or refused. */
  readonly faults: number
  /** Why the last time, for the operator; null while there was none. */
  readonly lastFault: string | null
}

/** A snapshot for health reports and metrics. Numbers count from the start of the session. */
export interface ShipStatus {
  readonly state: ShipState
  /** Address in use, without credentials. */
  readonly url: string
  /** Connections opened so far. */
  readonly connections: number
  readonly lastBlock: BlockPosition | null
  /** Newest head and last irreversible block of a node; null before the first. */
  readonly headNum: number | null
  readonly libNum: number | null
  /** Messages that the node may still send. */
  readonly credits: number
  readonly heldBlocks: number
  readonly heldBytes: number
  readonly blocksReceived: number
  readonly bytesReceived: number
  readonly forks: number
  /** Identical blocks that a node sent again and that were skipped. */
  readonly resentBlocks: number
  /** Milliseconds since the last complete message of any kind, and since the last block; null before the first. */
  readonly sinceLastMessageMs: number | null
  readonly sinceLastBlockMs: number | null
  /** Bytes received after the last complete message: part of one that has not arrived whole, or a few of pongs. */
  readonly unfinishedBytes: number
  /** One line on why the last connection was lost, null without one. */
  readonly lastProblem: string | null
  /** Every configured node, in the order of the configuration. */
  readonly nodes: readonly ShipNodeStatus[]
}

/** A running or finished read of one chain. */
export interface ShipSession {
  /**
   * Reads until `stopBlock` was delivered and released, or until `signal` aborts; both resolve. Rejects with
   * what the consumer threw, or with a `FatalError`: `CHAIN_MISMATCH`, `SHIP_PROTOCOL`,
   * `SHIP_RANGE_UNAVAILABLE`, `SHIP_RANGE_MISSING`, `SHIP_MESSAGE_TOO_LARGE`, `FORK_BELOW_IRREVERSIBLE`.
   * Lost connections are not errors: it reconnects indefinitely. Runs once.
   */
  run(signal: AbortSignal): Promise<void>
  /** The pipeline no longer holds `blocks` messages of `bytes` bytes in all; credits follow. */
  release(blocks: number, bytes: number): void
  status(): ShipStatus
}
