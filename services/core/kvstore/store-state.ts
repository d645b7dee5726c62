/** Whether a store answers and takes writes; of one that refuses them, the cause as far as it says one. */
export type StoreState = (typeof storeStates)[number]

/** All states of a store. */
export const storeStates = [
  'up',
  'unavailable',
  'read-only',
  'out of memory',
  'cannot save',
  'refuses writes',
] as const

/** States by the first word of the error with which Redis refuses to write. */
const refusals: Readonly<Record<string, StoreState>> = {
  READONLY: 'read-only',
  OOM: 'out of memory',
  MISCONF: 'cannot save',
  NOPERM: 'refuses writes',
  NOREPLICAS: 'refuses writes',
}

/** The state that the error of a command shows. */
export function stateOfError(error: unknown): StoreState {
  const [word = ''] = error instanceof Error ? error.message.split(' ') : []
  return refusals[word] ?? 'unavailable'
}

const sentences: Readonly<Record<StoreState, string | null>> = {
  up: null,
  unavailable: 'the key-value store is unavailable',
  'read-only': 'the key-value store refuses writes: it is a read-only replica (READONLY)',
  'out of memory': 'the key-value store refuses writes: it has reached its maxmemory (OOM)',
  'cannot save': 'the key-value store refuses writes: it cannot save to its disk (MISCONF)',
  'refuses writes': 'the key-value store refuses writes: its log and its ACL say why',
}

/** A sentence about the fault of a store in this state; null for one without fault. */
export function describeStoreState(state: StoreState): string | null {
  return sentences[state]
}
