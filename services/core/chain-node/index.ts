export { checkChainId, readBlock, readChainInfo, readRawAbi, readTableRows } from './chain-node.ts'
export type { ChainInfo, NodeBlock, TableRowsPage, TableRowsRequest } from './chain-node.ts'
export { demoChainId } from './demo-chain.ts'
export { NodeClient } from './node-client.ts'
