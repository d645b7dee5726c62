/**
 * The state-history session: reads blocks from a node over its websocket, with flow control by bytes, linkage checked
 * on every block, and reconnects that resume after the blocks that the pipeline holds.
 */

export type {
  ShipBlock,
  ShipNodeStatus,
  ShipSession,
  ShipStatus,
  NodeSettings,
  ShipTiming,
  BlockPosition,
  ResumePosition,
  ShipConsumer,
} from './types.ts'
export { createShipSession } from './session.ts'
export { shipLimits } from './limits.ts'
