/** Name of a payload of a state-history blocks result. */
export type PayloadName = 'block' | 'traces' | 'deltas'

/** Current behaviour of all sessions of a node; may be changed while they run. */
export interface NodeConduct {
  /** The node neither sends nor answers, with its connections open, like a stopped process. */
  frozen: boolean
  /** Limit of bytes per second and session; Infinity sends as much as the socket accepts. */
  bytesPerSecond: number
}

/**
 * Faults of one session. Counts are blocks results of the session, from 1; lists contain block numbers. Without a
 * fault the session behaves like a healthy node.
 */
export interface SessionFaults {
  /** The connection is cut after this many results. */
  readonly dropAfter?: number
  /** After this many results, the next result is replaced by invalid bytes. */
  readonly garbageAfter?: number
  /** After this many results, the node does not answer any more, with the connection open. */
  readonly silentAfter?: number
  /**
   * Forks that the session does not report to the client: only forks while the client has no credits (as in Leap 3.2
   * to 5.0), or all forks.
   */
  readonly loseRewinds?: 'without-credit' | 'always'
  /** Blocks that are skipped without notice: a gap. */
  readonly skipBlocks?: readonly number[]
  /** Numbers of blocks whose result contains no block, as if the block were outside of the node's logs. */
  readonly emptyBlocks?: readonly number[]
  /** Payloads that are missing in every result, as from a node that does not record them. */
  readonly withoutPayloads?: readonly PayloadName[]
  /**
   * Returns the frames that the node sends instead of a result: no frame, the frame twice, or a part of the frame.
   * `sent` is the number of previous results of the session. A result without frames costs no credit.
   */
  readonly replace?: (frame: Buffer, sent: number) => readonly Buffer[]
  /** Behaviour that may change while the session runs. */
  readonly conduct?: NodeConduct
  /** Replaces the text of the first frame. */
  readonly abiText?: string
}

/** Faults by session number; the first connection is 1. */
export type FaultPlan = (session: number) => SessionFaults | undefined
