export { checkChainId, readChainInfo, readRawAbi } from './chain-node.ts'
export type { ChainInfo } from './chain-node.ts'
export { demoChainId } from './demo-chain.ts'
