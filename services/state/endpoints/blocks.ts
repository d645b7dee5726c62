import { choice, text } from '../../core/parameters/index.ts'
import { invalidRequest, nextToGap, Refusal, toJsonText } from '../answers/index.ts'
import type { Position } from '../chain/index.ts'
import { comparators, selectBlockByTime } from '../tables/blocks.ts'
import type { BlockRecord, Comparator } from '../tables/blocks.ts'
import { endpoint } from './endpoint.ts'
import { withSnapshot } from './stored-state.ts'
import { blockId, blockNumber, object } from './schemas.ts'

/** `GET /v0/block_id/by_time`. */
export const blockIdByTime = endpoint({
  path: '/v0/block_id/by_time',
  methods: ['GET'],
  summary: 'The block nearest to a time',
  description:
    'Searches the stored history. For example, `gte` returns the first block at or after the time, and `lt` the last block before the time.',
  tag: 'Blocks',
  needsToken: true,
  body: 'none',
  parameters: {
    time: text(
      'Time in ISO 8601; a time without an offset is UTC. A date without a time, or a number of milliseconds since 1970, is allowed too.',
      {
        maximum: 64,
        required: true,
      },
    ),
    comparator: choice('Comparison of the block time with the given time.', comparators, { required: true }),
  },
  answer: object({
    block: object({ id: blockId, num: blockNumber, time: { type: 'string', format: 'date-time' } }),
  }),
  refusals: ['app_state_not_kept_error', 'app_block_num_not_indexed_error', 'block_time_not_found'],
  run: (values, parts) => {
    const timeMs = readTime(values.time)
    return withSnapshot(parts, { block_num: undefined }, async ({ session, position }) => {
      const block = await selectBlockByTime(session, timeMs, values.comparator)
      if (!block) throw new Refusal(404, 'block_time_not_found', 'no results found for query')
      refuseNextToGap(block, timeMs, values.comparator, position)
      return toJsonText({ block })
    })
  },
})

/**
 * Refuses a block next to a gap: a block that was not indexed may be nearer to the requested time.
 * @throws Refusal 400.
 */
function refuseNextToGap(
  block: BlockRecord,
  timeMs: number,
  comparator: Comparator,
  { gaps }: Position,
): void {
  const isExact = Date.parse(block.time) === timeMs && comparator !== 'gt' && comparator !== 'lt'
  const isAfter = comparator === 'gt' || comparator === 'gte'
  const gap = gaps.find(({ first, last }) => block.num === (isAfter ? last + 1 : first - 1))
  if (gap && !isExact) throw nextToGap(block.num, gap.first, gap.last)
}

/**
 * Parses a time to milliseconds since 1970. A time without zone is UTC, independent of the server's zone.
 * @throws Refusal 400.
 */
function readTime(given: string): number {
  const trimmed = given.trim()
  if (/^\d{12,14}$/.test(trimmed)) return Number(trimmed)
  const zoned = /(?:z|[+-]\d\d:?\d\d|gmt|utc)$/i.test(trimmed) || !/\d\d:\d\d/.test(trimmed)
  const timeMs = Date.parse(zoned ? trimmed : `${trimmed}Z`)
  if (Number.isNaN(timeMs)) throw invalidRequest({ time: ['The time field must be a valid date'] })
  return timeMs
}
