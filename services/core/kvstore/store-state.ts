/** State of a key-value store: `up`, `unavailable`, or the cause that Redis names for refusing writes. */
export type StoreState = (typeof storeStates)[number]

export const storeStates = [
  'up',
  'unavailable',
  'read-only',
  'out of memory',
  'cannot save',
  'refuses writes',
] as const

/** State of the key-value store for the first word of each Redis error that refuses a write. */
const refusals: Readonly<Record<string, StoreState>> = {
  READONLY: 'read-only',
  OOM: 'out of memory',
  MISCONF: 'cannot save',
  NOPERM: 'refuses writes',
  NOREPLICAS: 'refuses writes',
}

/** Derives the state of the key-value store from the error of a Redis command. */
export function stateOfError(error: unknown): StoreState {
  const [word = ''] = error instanceof Error ? error.message.split(' ') : []
  return refusals[word] ?? 'unavailable'
}

const sentences: Readonly<Record<StoreState, string | null>> = {
  up: null,
  unavailable: 'the key-value store is unavailable',
  'read-only': 'the key-value store refuses writes: the server is a read-only replica (READONLY)',
  'out of memory': 'the key-value store refuses writes: the server has reached its maxmemory (OOM)',
  'cannot save': 'the key-value store refuses writes: the server cannot save to its disk (MISCONF)',
  'refuses writes': 'the key-value store refuses writes: the log and the ACL of the server show the reason',
}

/** Says in a sentence why a key-value store in the given state does not work; null for `up`. */
export function describeStoreState(state: StoreState): string | null {
  return sentences[state]
}
