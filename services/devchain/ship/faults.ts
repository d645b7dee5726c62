/** Which payload of a result. */
export type PayloadName = 'block' | 'traces' | 'deltas'

/** How all sessions of a node currently behave; may be changed while they run. */
export interface NodeConduct {
  /** Nothing is sent and nothing answered, and connections stay open: a process that was stopped. */
  frozen: boolean
  /** Most bytes a second that each session sends; Infinity for as many as the socket takes. */
  bytesPerSecond: number
}

/**
 * How one session misbehaves. Counts are blocks results of that session, from 1; block lists are block
 * numbers. Everything left out behaves like a healthy node.
 */
export interface SessionFaults {
  /** The TCP connection is cut after this many results. */
  readonly dropAfter?: number
  /** The result after this many is replaced by bytes that are no result. */
  readonly garbageAfter?: number
  /** After this many results nothing is answered any more and the connection stays open. */
  readonly silentAfter?: number
  /** Rewinds that are not sent to the session: those at zero credits (as Leap 3.2 to 5.0), or all of them. */
  readonly loseRewinds?: 'without-credit' | 'always'
  /** Blocks that are skipped silently: a gap. */
  readonly skipBlocks?: readonly number[]
  /** Blocks whose result carries no block, as for a number outside of the logs. */
  readonly emptyBlocks?: readonly number[]
  /** Payloads that every result lacks, as with a disabled log. */
  readonly withoutPayloads?: readonly PayloadName[]
  /**
   * What is sent instead of a result: nothing, the same twice, a part of it. `sent` counts the results before; a result
   * for which nothing is sent costs no credit.
   */
  readonly replace?: (frame: Buffer, sent: number) => readonly Buffer[]
  /** What may change while the session runs. */
  readonly conduct?: NodeConduct
  /** Another text for the first frame. */
  readonly abiText?: string
}

/** Faults by session: the first connection has number 1. */
export type FaultPlan = (session: number) => SessionFaults | undefined
