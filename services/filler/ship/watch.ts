/** A timer that runs out unless it is armed again; at most one is pending. */
export interface Deadline {
  arm(timeoutMs: number, expired: () => void): void
  clear(): void
}

/** Creates a deadline. */
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

/** Activity of a stream, sampled at intervals so that it costs nothing per block. */
export interface Activity {
  /** Results received so far. */
  readonly results: number
  readonly bytesRead: number
  /** False while the node may not send, so that silence says nothing. */
  readonly expected: boolean
}

/** What a stream must do to count as alive. */
export interface ActivityLimits {
  /** Time without any result or bytes after which the stream is stuck. */
  readonly idleTimeoutMs: number
  /** Time in which an unfinished message must progress at the minimum rate. */
  readonly slowMessageTimeoutMs: number
  /** Bytes a second that an unfinished message must arrive with. */
  readonly minBytesPerSecond: number
  /** Longest time that one message may take. */
  readonly messageTimeoutMs: number
}

/** Samples in the shortest of the times; a sample counts as a whole or not at all. */
const SAMPLES = 4
/** Pongs are a few bytes; more than this since the last result is a message in transit. */
const TRAFFIC_BYTES = 1024

/** How long the stream has been in a bad state, counted in samples: a process that slept does not count. */
interface Streaks {
  quiet: number
  slow: number
  open: number
  /** Bytes of the unfinished message, pongs included. */
  openBytes: number
}

/**
 * Calls `stuck` once, with the reason, when nothing was received for the idle time although it was expected, or when
 * a message arrives below the minimum rate or for longer than the total time.
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
  return quiet * intervalMs >= limits.idleTimeoutMs ? 'the node sends nothing any more' : null
}
