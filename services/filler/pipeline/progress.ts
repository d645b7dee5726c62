import { PronghornError, describeError } from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'

/** A reader with blocks to process counts as stalled after this time without a commit. */
const STALLED_AFTER_MS = 30_000

/**
 * A message counts as in transit if the node has sent more bytes of the message than this. Fewer bytes may be pongs.
 */
const MESSAGE_BYTES = 1_024

export interface ProgressFacts {
  /** State of the session with the node. */
  readonly session: 'connected' | 'behind' | 'disconnected'
  /** Reason of the last disconnect, if any. */
  readonly lastProblem: string | null
  /** Milliseconds since the last commit; before the first commit, since the start. */
  readonly sinceCommitMs: number
  /** Milliseconds since the node's last complete message; before the first message, since the start. */
  readonly sinceMessageMs: number
  /** Bytes of a message that has arrived only in part. */
  readonly unfinishedBytes: number
  /** Number of blocks that a node has announced and that are not committed yet. */
  readonly waitingBlocks: number
}

/** A problem that stops a reader. */
export interface ReaderProblem {
  /** Public text: contains no address or other internal data. */
  readonly summary: string
  /** Text for the operator: the summary with cause and figures, one line. */
  readonly detail: string
  /** Code of the error that interrupted reading; absent without an interruption. */
  readonly code?: ErrorCode
}

/** The problem that stops the reader; null while the reader progresses. */
export function describeStall(facts: ProgressFacts, stalledAfterMs = STALLED_AFTER_MS): ReaderProblem | null {
  const { session, sinceCommitMs, sinceMessageMs, waitingBlocks, unfinishedBytes } = facts
  if (sinceCommitMs < stalledAfterMs) return null
  const idle = `no commit for ${seconds(sinceCommitMs)}`
  if (session === 'disconnected') return describeDisconnection(facts)
  if (session === 'behind') return problem('the chain node is behind the reader', idle)
  if (sinceMessageMs >= stalledAfterMs) {
    return unfinishedBytes > MESSAGE_BYTES
      ? problem(
          'a message of the chain node stays incomplete',
          `${unfinishedBytes} bytes after ${seconds(sinceMessageMs)}`,
        )
      : problem('the chain node is silent', `no message for ${seconds(sinceMessageMs)}`)
  }
  return waitingBlocks > 0
    ? problem('blocks are waiting to be committed', `${waitingBlocks} blocks, ${idle}`)
    : null
}

/** Sentence about the last disconnect, such as `the chain node ws://… refuses connections (for 31 s). Trying again.` */
function describeDisconnection({ lastProblem, sinceCommitMs }: ProgressFacts): ReaderProblem {
  const [code = '', sentence = lastProblem] = /^([A-Z_]+): (.*)$/s.exec(lastProblem ?? '')?.slice(1) ?? []
  const isRefused = code === 'CHAIN_NODE_REFUSED'
  const summary = isRefused ? 'the chain node refuses connections' : 'no stream from the chain node'
  const cause = isRefused ? sentence! : `${summary}${sentence === null ? '' : `: ${sentence}`}`
  return { summary, detail: `${cause} (for ${seconds(sinceCommitMs)}). Trying again.` }
}

/** Problem text for an error that interrupted reading; valid until the next commit. */
export function describeInterruption(error: unknown): ReaderProblem {
  const code = error instanceof PronghornError ? error.code : 'INTERNAL'
  const summary = summaries[code]
  if (summary === undefined)
    return { ...problem(`reading was interrupted (${code})`, describeError(error)), code }
  const sentence = describeError(error).replace(`${code}: `, '')
  return { summary, detail: `${sentence}. Trying again.`, code }
}

const summaries: Readonly<Record<string, string>> = {
  DATABASE_UNAVAILABLE: 'the database is unavailable',
  DATABASE_REFUSED: 'the database is unavailable',
  DATABASE_CONNECTIONS: 'the database has no connection left',
  DATABASE_LOGIN_REFUSED: 'the database refuses the login',
  DISK_FULL: 'the disk of the database is full',
  DATABASE_READ_ONLY: 'the database accepts no writes',
}

function problem(summary: string, figures: string): ReaderProblem {
  return { summary, detail: `${summary}: ${figures}` }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`
}
