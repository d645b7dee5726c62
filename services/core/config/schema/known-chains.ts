import type { HandlerName } from './readers-schema.ts'

/** A public chain, by what distinguishes it. */
export interface KnownChain {
  /** Name that `CHAIN` takes. */
  readonly name: string
  /** Chain id, 64 lower-case hexadecimal characters. */
  readonly id: string
  /** Last block that indexing may start with: it lies just before the first use of the contracts. Absent: not known. */
  readonly startBlock?: number
  /** Disk that docs/sizing.md estimates for its database, GB. Absent: no estimate. */
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

/** Handlers whose data is wrong when indexing starts at another block. */
export const handlersWithStart: readonly HandlerName[] = ['assets', 'market']

/**
 * What `start_block` has to be on a chain, in words; undefined when the given block is that, or none is known.
 * @param override key or variable that allows any block.
 */
export function startBlockProblem(chainId: string, startBlock: number, override: string): string | undefined {
  const known = knownChains.find(({ id }) => id === chainId.toLowerCase())
  if (known?.startBlock === undefined || known.startBlock === startBlock) return undefined
  return `${known.startBlock}, the start block of ${known.name}; ${override} allows another one`
}
