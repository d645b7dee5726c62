/** A timer with at most one pending expiry: `arm` cancels the previous expiry. */
export interface Deadline {
  arm(timeoutMs: number, expired: () => void): void
  clear(): void
}

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
        // After a long synchronous computation the reply may wait unread in the socket: read the socket first.
        pending = setImmediate(expired)
      }, timeoutMs)
    },
    clear,
  }
}

/** Activity counters of a stream. The counters are sampled at intervals, so that the watch costs nothing per block. */
export interface Activity {
  /** Number of results (status replies and block messages) received so far. */
  readonly results: number
  readonly bytesRead: number
  /** False while the node may not send. Silence of the node is then no fault. */
  readonly expected: boolean
}

/** Limits beyond which `watchActivity` reports a stream as stuck. */
export interface ActivityLimits {
  /** Maximum time in which the node sends neither a complete result nor more bytes than a few pongs. */
  readonly idleTimeoutMs: number
  /** Time that an unfinished message may stay below `minBytesPerSecond`. */
  readonly slowMessageTimeoutMs: number
  /** Minimum rate of an unfinished message, bytes a second. */
  readonly minBytesPerSecond: number
  /** Maximum time that one message may take, even if its bytes arrive fast enough. */
  readonly messageTimeoutMs: number
}

/**
 * Number of samples within the shortest time limit. Times are measured in whole samples, with an error of up to one
 * sample.
 */
const SAMPLES = 4
/** More bytes than this since the last result mean that a message is in transit; pongs are only a few bytes. */
const TRAFFIC_BYTES = 1024

/**
 * Number of consecutive samples in which the node was silent, was slow, or had an unfinished message. Counts samples
 * rather than clock time, so that the time in which the process slept does not count.
 */
interface Streaks {
  quiet: number
  slow: number
  open: number
  /** Bytes of the unfinished message, including pongs. */
  openBytes: number
}

/**
 * Calls `stuck` once, with the reason, in one of three cases: the node sent nothing for `idleTimeoutMs` although the
 * node may send; a message stays below the minimum rate for `slowMessageTimeoutMs`; a message takes longer than
 * `messageTimeoutMs`. Returns a function that ends the watch.
 */
export function watchActivity(
  limits: ActivityLimits,
  sample: () => Activity,
  stuck: (reason: string) => void,
): () => void {
  const { idleTimeoutMs, slowMessageTimeoutMs, messageTimeoutMs } = limits
  const intervalMs = Math.min(idleTimeoutMs, slowMessageTimeoutMs, messageTimeoutMs) / SAMPLES
  const slowBytes = (limits.minBytesPerSecond * intervalMs) / 1_000
  const streaks: Streaks = { quiet: 0, slow: 0, open: 0, openBytes: 0 }
  let before = sample()
  const timer = setInterval(() => {
    const now = sample()
    const bytes = now.bytesRead - before.bytesRead
    const idle = now.results === before.results && now.expected
    before = now
    if (!idle) {
      Object.assign(streaks, { quiet: 0, slow: 0, open: 0, openBytes: 0 })
      return
    }
    streaks.openBytes += bytes
    const isOpen = streaks.openBytes > TRAFFIC_BYTES
    streaks.quiet = bytes > TRAFFIC_BYTES ? 0 : streaks.quiet + 1
    streaks.slow = isOpen && bytes < slowBytes ? streaks.slow + 1 : 0
    streaks.open = isOpen ? streaks.open + 1 : 0
    const reason = describeStuck(streaks, intervalMs, limits)
    if (reason === null) return
    clearInterval(timer)
    stuck(reason)
  }, intervalMs)
  return () => {
    clearInterval(timer)
  }
}

function describeStuck(streaks: Streaks, intervalMs: number, limits: ActivityLimits): string | null {
  const { slow, open, quiet, openBytes } = streaks
  const seconds = Math.round((open * intervalMs) / 1_000)
  if (slow * intervalMs >= limits.slowMessageTimeoutMs) {
    return `a message of the node arrives too slowly: ${openBytes} bytes in ${seconds} s`
  }
  if (open * intervalMs >= limits.messageTimeoutMs) {
    return `a message of the node is not complete after ${seconds} s and ${openBytes} bytes`
  }
  return quiet * intervalMs >= limits.idleTimeoutMs ? 'the node has stopped sending' : null
}
