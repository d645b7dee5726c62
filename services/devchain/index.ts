export { Random } from './activity/index.ts'
export type { ActivityKind, ActivityMix, BlockContent } from './activity/index.ts'
export { benchBlocks, denseMarketMix, denseMix, denseRate } from './bench/index.ts'
export type { BenchKind, BenchStart } from './bench/index.ts'
export { TreeGrower } from './block-tree.ts'
export type { BlockTree } from './block-tree.ts'
export { setAbiAction, assetsAccount } from './contracts/index.ts'
export type { ActionInput } from './contracts/index.ts'
export type { ChainBlock, Position } from './chain/index.ts'
export { createDevchain, Devchain } from './devchain.ts'
export { MirrorNode } from './mirror.ts'
export { nodeFaults } from './node-faults.ts'
export type { NodeFault } from './node-faults.ts'
export type { MirrorOptions } from './mirror.ts'
export type { DevchainOptions, LiveOptions } from './options.ts'
export { runDevchain } from './run.ts'
export type { DevchainCommand } from './run.ts'
export { startShipServer } from './ship/index.ts'
export type {
  FaultPlan,
  NodeConduct,
  PayloadName,
  SessionFaults,
  ShipNode,
  ShipServer,
} from './ship/index.ts'
