import type { KeyValueStore, StoreState } from '../core/kvstore/index.ts'

/** State of the key-value store as of the last probe. */
export interface StoreWatch {
  readonly state: StoreState
  stop(): void
}

const INTERVAL_MS = 5_000

/** Probes the key-value store at intervals, so that health and metrics requests never wait for it. */
export async function watchStore(store: KeyValueStore): Promise<StoreWatch> {
  let state = await store.probe()
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    state = await store.probe()
    isLooking = false
  }
  const timer = setInterval(() => void look(), INTERVAL_MS)
  timer.unref()
  return {
    get state() {
      return state
    },
    stop: () => clearInterval(timer),
  }
}
