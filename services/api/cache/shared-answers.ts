import { createReadyAccess } from '../../core/kvstore/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import { Answer } from './answer.ts'

/** Cache of answers that all processes of one chain share. */
export interface SharedAnswers {
  /**
   * Reads an answer and its remaining lifetime. Returns undefined if the answer is not stored, or if the store is
   * unavailable or slow.
   */
  read(key: string): Promise<{ answer: Answer; lifeMs: number } | undefined>
  /** Stores an answer in the background. */
  store(key: string, answer: Answer, lifeMs: number): void
}

/** Time limit for a read of the key-value store, ms. Creating the answer without the store takes about as long. */
const DEADLINE_MS = 100

/**
 * Creates a cache of answers in the key-value store.
 * @param prefix first part of each key. Answers that must not be mixed, such as answers of two program versions, have
 * different prefixes.
 */
export function createSharedAnswers(store: KeyValueStore, prefix: string): SharedAnswers {
  const access = createReadyAccess({ deadlineMs: DEADLINE_MS })
  return {
    async read(key) {
      const found = await access(() => store.read(prefix + key))
      if (!found) return undefined
      const end = found.value.indexOf('\n')
      const answer = new Answer(found.value.slice(0, end), Buffer.from(found.value.slice(end + 1), 'utf8'))
      return { answer, lifeMs: found.expiresInMs }
    },
    store(key, answer, lifeMs) {
      const value = `${answer.tag}\n${answer.bytes.toString('utf8')}`
      void access(() => store.set(prefix + key, value, lifeMs))
    },
  }
}
