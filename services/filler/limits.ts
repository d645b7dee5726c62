import { decoderLimits } from '../core/antelope/decoder/index.ts'
import { chainNodeLimits } from '../core/chain-node/index.ts'
import type { Limit } from '../core/limits/index.ts'
import { shipLimits } from './ship/index.ts'

/** Every limit of what comes from the chain, each from where it is enforced. */
export const chainLimits: readonly Limit[] = [...shipLimits, ...chainNodeLimits, ...decoderLimits]
