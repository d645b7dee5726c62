import { storeStates } from '../kvstore/index.ts'
import type { StoreState } from '../kvstore/index.ts'
import type { Metrics } from './metrics.ts'

export function noteStoreState(metrics: Metrics, now: StoreState): void {
  metrics.set('pronghorn_kvstore_up', {}, now === 'up' ? 1 : 0)
  for (const state of storeStates) metrics.set('pronghorn_kvstore_state', { state }, state === now ? 1 : 0)
}
