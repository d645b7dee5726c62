import type { AbiDefinition } from '../../core/antelope/abi/index.ts'
import type { Measures } from '../../core/antelope/decoder/index.ts'
import type { TypeNode } from '../../core/antelope/types/index.ts'
import { AbiError } from '../../core/bytes/index.ts'
import {
  beginReading,
  CodeEmitter,
  compileAbi,
  DecodeFailure,
  explainFailure,
} from '../../core/antelope/decoder/index.ts'
import { slotToEpochMs } from '../../core/antelope/index.ts'
import {
  blockStructs,
  createHeaderReader,
  createIdCheck,
  type BlockHeader,
  type IdCheck,
} from './block-header.ts'
import { generateDeltaWalker } from './delta-walker.ts'
import { unusableProtocol, requireType } from './protocol-shape.ts'
import { createRequestEncoder, type BlocksRequest, type RequestEncoder } from './requests.ts'
import { generateResultReader, type BlocksResult, type StatusResult } from './result-reader.ts'
import { createRootCheck, type RootCheck } from './roots.ts'
import { createPermissionReaders, type PermissionReaders } from './permissions.ts'
import {
  ScannedAction,
  ScannedRow,
  type DeltaSink,
  type PermissionLinkRow,
  type PermissionRow,
  type TraceSink,
} from './scanned.ts'
import { generateTraceWalker } from './trace-walker.ts'
import { createWatchSet, type WatchSet } from './watch-set.ts'

/**
 * Reads and writes the messages of one state-history node; the node's first frame describes their layout. Payloads are
 * read in place, without copies. A sink may decode with ABIs, but must not scan another payload (the read state is
 * shared).
 */
export interface Protocol extends RequestEncoder {
  /** Reads a binary frame. @throws DecodeError if the frame does not fit the protocol ABI. */
  decodeResult(frame: Uint8Array): StatusResult | BlocksResult
  /** Reads the first fields of a block payload. @throws DecodeError if the payload is too short. */
  readBlockHeader(payload: Uint8Array): BlockHeader
  /** Whether a block payload belongs to the block with this number and id, checked by the hash of its header. */
  isBlock: IdCheck
  /**
   * The part of a block whose Merkle root differs from the root in the header; null if all roots match, or if the
   * header has no such roots.
   */
  findFalseContent: RootCheck
  /** Time of a block payload in epoch milliseconds. @throws DecodeError if the payload is too short. */
  readBlockTimeMs(payload: Uint8Array): number
  /**
   * Finds the actions of watched accounts, and every `eosio::setabi`, in a traces payload. Reports executed actions
   * (with a receipt) and no notifications, in payload order, which is not the order of execution. @throws DecodeError
   * if the payload is malformed; results reported before stay valid.
   */
  scanTraces(payload: Uint8Array, watch: WatchSet, sink: TraceSink): void
  /**
   * Like {@link scanTraces}, but reports the actions of all accounts, with the billed resources of their transactions.
   * @throws DecodeError if the payload is malformed; results reported before stay valid.
   */
  scanTransactions(payload: Uint8Array, sink: TraceSink): void
  /** Like {@link scanTraces}, but returns separate records in order of execution. */
  collectActions(payload: Uint8Array, watch: WatchSet): ScannedAction[]
  /**
   * Finds the rows of watched contracts, and all account changes, in a deltas payload, in payload order. @throws
   * DecodeError if the payload is malformed; results reported before stay valid.
   */
  scanDeltas(payload: Uint8Array, watch: WatchSet, sink: DeltaSink): void
  /** Reads a row of the delta table `permission`. @throws DecodeError if the row does not fit the protocol ABI. */
  readPermission(row: Uint8Array): PermissionRow
  /** Reads a row of the delta table `permission_link`. @throws DecodeError if the row does not fit the protocol ABI. */
  readPermissionLink(row: Uint8Array): PermissionLinkRow
}

/**
 * Creates a protocol from the ABI in a node's first frame. @throws FatalError `SHIP_PROTOCOL` if the ABI is not one of
 * a state-history node.
 */
export function compileProtocol(shipAbi: AbiDefinition): Protocol {
  try {
    return new CompiledProtocol(shipAbi)
  } catch (error) {
    if (error instanceof AbiError) throw unusableProtocol('the ABI does not compile', error)
    throw error
  }
}

const noAccount = createWatchSet([])

interface Root {
  readonly node: TypeNode
  readonly name: string
  readonly measures: Measures
}

class CompiledProtocol implements Protocol {
  readonly #requests: RequestEncoder
  readonly readBlockHeader: Protocol['readBlockHeader']
  readonly isBlock: IdCheck
  readonly findFalseContent: RootCheck
  readonly #result: Root
  readonly #traces: Root
  readonly #deltas: Root
  readonly #readResult: ReturnType<typeof generateResultReader>
  readonly #walkTraces: ReturnType<typeof generateTraceWalker>
  /** Generated on first use: a reader that is catching up never calls `scanTransactions`. */
  #walkTransactions: ReturnType<typeof generateTraceWalker> | null = null
  readonly #walkDeltas: ReturnType<typeof generateDeltaWalker>
  readonly #permissions: PermissionReaders
  readonly #action = new ScannedAction()
  readonly #row = new ScannedRow()

  constructor(shipAbi: AbiDefinition) {
    const abi = compileAbi(shipAbi)
    const emitters = { result: new CodeEmitter(), traces: new CodeEmitter(), deltas: new CodeEmitter() }
    const root = (type: string, name: keyof typeof emitters): Root => ({
      node: requireType(abi.types, type),
      name,
      measures: emitters[name].measures,
    })
    this.#result = root('result', 'result')
    this.#traces = root('transaction_trace[]', 'traces')
    this.#deltas = root('table_delta[]', 'deltas')
    this.#readResult = generateResultReader(emitters.result, this.#result.node)
    this.#walkTraces = generateTraceWalker(emitters.traces, this.#traces.node, 'watched')
    this.#walkDeltas = generateDeltaWalker(emitters.deltas, abi.types, this.#deltas.node)
    this.readBlockHeader = createHeaderReader(abi.types, this.#result.node)
    this.isBlock = createIdCheck(abi.types, this.#result.node)
    this.findFalseContent = createRootCheck(blockStructs(abi.types, this.#result.node), this.#traces.node)
    this.#requests = createRequestEncoder(abi)
    this.#permissions = createPermissionReaders(abi)
  }

  encodeStatusRequest(): Uint8Array {
    return this.#requests.encodeStatusRequest()
  }

  encodeBlocksRequest(request: BlocksRequest): Uint8Array {
    return this.#requests.encodeBlocksRequest(request)
  }

  encodeAck(messages: number): Uint8Array {
    return this.#requests.encodeAck(messages)
  }

  readPermission(row: Uint8Array): PermissionRow {
    return this.#permissions.permission(row)
  }

  readPermissionLink(row: Uint8Array): PermissionLinkRow {
    return this.#permissions.link(row)
  }

  decodeResult(frame: Uint8Array): StatusResult | BlocksResult {
    beginReading(frame, 0, frame.length)
    try {
      return this.#readResult()
    } catch (error) {
      throw located(error, this.#result, frame)
    }
  }

  readBlockTimeMs(payload: Uint8Array): number {
    return slotToEpochMs(this.readBlockHeader(payload).timestampSlot)
  }

  scanTraces(payload: Uint8Array, watch: WatchSet, sink: TraceSink): void {
    beginReading(payload, 0, payload.length)
    try {
      this.#walkTraces(watch, sink, this.#action)
    } catch (error) {
      throw located(error, this.#traces, payload)
    }
  }

  scanTransactions(payload: Uint8Array, sink: TraceSink): void {
    this.#walkTransactions ??= generateTraceWalker(new CodeEmitter(), this.#traces.node, 'everything')
    beginReading(payload, 0, payload.length)
    try {
      this.#walkTransactions(noAccount, sink, this.#action)
    } catch (error) {
      throw located(error, this.#traces, payload)
    }
  }

  collectActions(payload: Uint8Array, watch: WatchSet): ScannedAction[] {
    const actions: ScannedAction[] = []
    this.scanTraces(payload, watch, { action: (action) => void actions.push(action.copy()) })
    return actions.sort(
      (a, b) => a.globalSequenceHi - b.globalSequenceHi || a.globalSequenceLo - b.globalSequenceLo,
    )
  }

  scanDeltas(payload: Uint8Array, watch: WatchSet, sink: DeltaSink): void {
    beginReading(payload, 0, payload.length)
    try {
      this.#walkDeltas(watch, sink, this.#row)
    } catch (error) {
      throw located(error, this.#deltas, payload)
    }
  }
}

// Adds the position in `bytes` to a decode error. An error that a sink throws is returned unchanged.
function located(error: unknown, root: Root, bytes: Uint8Array): unknown {
  if (!(error instanceof DecodeFailure)) return error
  return explainFailure(error, { ...root, root: root.name }, { bytes, start: 0, end: bytes.length })
}
