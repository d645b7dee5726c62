import { describeBodyLimits } from '../core/http/content/index.ts'
import { describeAnswerLimits } from '../core/http/index.ts'
import { listenerLimits } from '../core/http/listener/index.ts'
import { listLimits } from '../core/limits/index.ts'
import type { Limit } from '../core/limits/index.ts'
import { databaseLimits } from './database/index.ts'
import { liveLimits } from './live/index.ts'
import { pageLimits } from './namespaces/nft/paging/index.ts'
import { attributeFilterLimits, parameterLimits } from './request/index.ts'

/** Every limit of the API, exported from the modules that enforce them. */
export const apiLimits: Readonly<Record<'requests' | 'live', readonly Limit[]>> = {
  requests: [
    { setting: 'max_connections', counts: 'connections, idle ones too', per: 'api', beyond: 'closed' },
    {
      setting: 'connections_per_address',
      counts: 'connections, idle ones too',
      per: 'address',
      beyond: 'closed',
    },
    {
      setting: 'rate_limit.requests',
      counts: 'requests in `rate_limit.interval` seconds',
      per: 'address',
      beyond: '429 with `Retry-After`',
    },
    ...listenerLimits,
    ...describeBodyLimits({ setting: 'max_body_bytes' }, { setting: 'max_body_memory_bytes' }),
    ...parameterLimits,
    ...listLimits,
    ...attributeFilterLimits,
    {
      setting: 'namespaces[].args.limits',
      counts: 'rows of a page',
      per: 'request',
      value: 'set for each list',
      beyond: '400',
    },
    ...describeAnswerLimits({ setting: 'limits.answer_bytes' }, { setting: 'limits.answers_bytes' }),
    ...pageLimits,
    ...databaseLimits,
  ],
  live: liveLimits,
}
