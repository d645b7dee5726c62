/**
 * The state-history session: reads blocks from a node over its websocket, with flow control by bytes,
 * linkage checked on every block, and reconnects that resume from what the pipeline holds.
 */
export { createShipSession } from './session.ts'

export type { NodeAddress } from './address.ts'
export type {
  BlockPosition,
  BlocksRequest,
  BlocksResult,
  NodeSettings,
  ProtocolCodec,
  ResumePosition,
  ShipBlock,
  ShipConsumer,
  ShipLogger,
  ShipNodeState,
  ShipNodeStatus,
  ShipSession,
  ShipSessionOptions,
  ShipState,
  ShipStatus,
  ShipTiming,
  StatusResult,
  WirePosition,
} from './types.ts'
