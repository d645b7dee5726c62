import { RetryableError } from '../../services/core/errors/index.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'

const never = new Promise<never>(() => undefined)

/** A key-value store that can fail or hang. Only `publish` is used. */
export class SimulatedStore implements Pick<KeyValueStore, 'publish'> {
  state: 'lost' | 'frozen' | 'back' = 'back'

  publish(): Promise<void> {
    if (this.state === 'frozen') return never
    if (this.state === 'lost')
      return Promise.reject(new RetryableError('KVSTORE_UNAVAILABLE', 'the key-value store is unavailable'))
    return Promise.resolve()
  }
}
