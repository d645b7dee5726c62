import { decoderLimits } from '../core/antelope/decoder/index.ts'
import { chainNodeLimits } from '../core/chain-node/index.ts'
import type { Limit } from '../core/limits/index.ts'
import { shipLimits } from './ship/index.ts'

/** All limits of data from the chain, collected from the modules that enforce them. */
export const chainLimits: readonly Limit[] = [...shipLimits, ...chainNodeLimits, ...decoderLimits]
