import type { Metrics } from './metrics.ts'

/** Counts of the answers of a process. */
export interface WatchedAnswers {
  /** Bytes of the answers in progress. */
  readonly bytes: number
  /** Requests that were refused because of these. */
  readonly refused: number
}

/** Adds the bytes of answers in progress to each snapshot. */
export function watchAnswers(metrics: Metrics, answers: WatchedAnswers): void {
  metrics.beforeSnapshot(() => {
    metrics.set('pronghorn_http_answers_bytes', {}, answers.bytes)
    metrics.countTo('pronghorn_http_answers_refused_total', {}, answers.refused)
  })
}
