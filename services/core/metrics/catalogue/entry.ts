/** Programs that serve metrics. */
export type MetricProgram = 'api' | 'filler' | 'state'

/** How the series of several processes or threads of a program are combined. */
export type Aggregation = 'sum' | 'max' | 'min' | 'first'

/** Declaration of a metric. */
export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly programs: readonly MetricProgram[]
  /** Upper bounds of the histogram buckets. */
  readonly buckets?: readonly number[]
  /** Aggregation of a gauge over processes; default `sum`. Counters and histograms are always summed. */
  readonly aggregation?: Aggregation
}

/** Histogram buckets in seconds, from a point read to the longest allowed query. */
export const answerSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Labels of metrics of one reader. */
export const reader = ['reader'] as const
