import { bytesText, countText } from '../../limits/index.ts'
import type { Limit } from '../../limits/index.ts'
import { MAX_ABI_BYTES, MAX_ENTRIES } from '../abi/index.ts'
import { MAX_DEPTH } from './read-state.ts'
import { MAX_FIELDS } from './type-graph.ts'

const ofAbi = { per: 'ABI', beyond: 'the ABI counts as unusable: rows of its contract stay hexadecimal' }

/** Limits on ABIs, and on data that is decoded with them. */
export const decoderLimits: readonly Limit[] = [
  { counts: 'bytes', ...ofAbi, value: bytesText(MAX_ABI_BYTES) },
  { counts: 'entries of a section', ...ofAbi, value: countText(MAX_ENTRIES) },
  {
    counts: 'fields of a type, including the fields of the types that it contains',
    per: 'type',
    value: countText(MAX_FIELDS),
    beyond: 'the type counts as undefined',
  },
  {
    counts: 'nesting depth of values of a type that contains itself',
    per: 'value',
    value: countText(MAX_DEPTH),
    beyond: 'the value counts as undecodable',
  },
]
