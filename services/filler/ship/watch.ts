/** A timer that runs out unless it is armed again; at most one is pending. */
export interface Deadline {
  arm(timeoutMs: number, expired: () => void): void
  clear(): void
}

/** Makes a deadline. */
export function createDeadline(): Deadline {
  let timer: NodeJS.Timeout | undefined
  let pending: NodeJS.Immediate | undefined
  const clear = (): void => {
    clearTimeout(timer)
    clearImmediate(pending)
  }
  return {
    arm(timeoutMs, expired) {
      clear()
      timer = setTimeout(() => {
        // After a long computation of our own the answer may be there, unread: let the socket be read first.
        pending = setImmediate(expired)
      }, timeoutMs)
    },
    clear,
  }
}

/** Signs of life of a stream, sampled now and then so that they cost nothing per block. */
export interface Activity {
  /** Results received so far. */
  readonly results: number
  readonly bytesRead: number
  /** False while the node may not send, so that silence says nothing. */
  readonly expected: boolean
}

/** Samples per idle time; the stream counts as stuck after this many without a change. */
const samples = 4
/** Pongs are a few bytes; a large message on its way is more than this per sample. */
const trafficBytes = 1024

/** Calls `stuck` once when nothing was received for `idleTimeoutMs` although it was expected. */
export function watchActivity(idleTimeoutMs: number, sample: () => Activity, stuck: () => void): () => void {
  let before = sample()
  let quiet = 0
  const timer = setInterval(() => {
    const now = sample()
    const moved = now.results !== before.results || now.bytesRead - before.bytesRead > trafficBytes
    before = now
    quiet = moved || !now.expected ? 0 : quiet + 1
    if (quiet < samples) return
    clearInterval(timer)
    stuck()
  }, idleTimeoutMs / samples)
  return () => {
    clearInterval(timer)
  }
}
