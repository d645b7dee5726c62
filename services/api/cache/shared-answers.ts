import { createReadyAccess } from '../../core/kvstore/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import { Answer } from './answer.ts'

/** Answers that the processes of one chain cache for each other. */
export interface SharedAnswers {
  /** An answer and its remaining lifetime; undefined when there is none, or the store is unavailable or slow. */
  read(key: string): Promise<{ answer: Answer; lifeMs: number } | undefined>
  /** Stores an answer, without waiting. */
  store(key: string, answer: Answer, lifeMs: number): void
}

/** Making an answer takes about as long as waiting for it here may take. */
const DEADLINE_MS = 100

/**
 * Answers in the key-value store.
 * @param prefix separates answers that must not be mixed, such as those of different versions.
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
