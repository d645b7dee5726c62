import type { HandlerName } from './readers-schema.ts'

/** A public chain with its known facts. */
export interface KnownChain {
  /** Value of the environment variable `CHAIN` that selects the chain. */
  readonly name: string
  /** Chain id, 64 lower-case hexadecimal characters. */
  readonly id: string
  /**
   * The only start block that is allowed without an override: a block just before the first use of the contracts.
   * Absent if unknown: any block is allowed.
   */
  readonly startBlock?: number
  /** Estimated database size in GB from docs/sizing.md. Absent: no estimate. */
  readonly diskGb?: number
}

/** Public chains that have the NFT contracts. */
export const knownChains: readonly KnownChain[] = [
  {
    name: 'wax-mainnet',
    id: '1064487b3cd1a897ce03ae5b6a865651747e2e152090f99c1d19d44e01aea5a4',
    startBlock: 64_000_000,
    diskGb: 1_343,
  },
  {
    name: 'wax-testnet',
    id: 'f16b1833c747c43682f4386fca9cbb327929334a762755ebec17f6f23c9b8a12',
    startBlock: 35_795_000,
  },
  {
    name: 'eos-mainnet',
    id: 'aca376f206b8fc25a6ed44dbdc66547c36c6c33e3a119ffbeaef943642f0e906',
    startBlock: 99_070_000,
    diskGb: 22,
  },
  {
    name: 'proton-mainnet',
    id: '384da888112027f0321850a169f737c33e53b388aad48b5adace4bab97f437e0',
    startBlock: 50_289_000,
  },
  {
    name: 'proton-testnet',
    id: '71ee83bcf52142d61019d95f9cc5427ba6a0d7ff8accd9e2088ae2abeaf3d3dd',
    startBlock: 53_440_000,
  },
  {
    name: 'telos-mainnet',
    id: '4667b205c6838ef70ff7988f6e8257e8be0e1284a2f59699054a018f743b1d11',
  },
  {
    name: 'jungle4',
    id: '73e4385a2708e6d7048834fbc1079f2fabb17b3c125b146af438971e90716c4d',
  },
]

/** Handlers whose data is wrong if indexing starts after the known start block, because earlier actions are missing. */
export const handlersWithStart: readonly HandlerName[] = ['assets', 'market']

/**
 * Describes the allowed `start_block` of a chain; undefined if the given block is allowed or the chain has no known
 * start block.
 * @param override key or variable with which any block is allowed.
 */
export function startBlockProblem(chainId: string, startBlock: number, override: string): string | undefined {
  const known = knownChains.find(({ id }) => id === chainId.toLowerCase())
  if (known?.startBlock === undefined || known.startBlock === startBlock) return undefined
  return `${known.startBlock}, the start block of ${known.name}; ${override} allows another start block`
}
