import type { Metrics } from './metrics.ts'

/** Counts of the byte budget of responses, for the metrics. */
export interface WatchedAnswers {
  /** Bytes of responses in progress. */
  readonly bytes: number
  /** Number of requests refused because the bytes in progress reached the limit. */
  readonly refused: number
}

/** Adds the bytes of responses in progress to each metrics snapshot. */
export function watchAnswers(metrics: Metrics, answers: WatchedAnswers): void {
  metrics.beforeSnapshot(() => {
    metrics.set('pronghorn_http_answers_bytes', {}, answers.bytes)
    metrics.countTo('pronghorn_http_answers_refused_total', {}, answers.refused)
  })
}
