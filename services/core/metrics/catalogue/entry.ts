/** Programs that serve metrics. */
export type MetricProgram = 'api' | 'filler' | 'state'

/** How the series of several processes or threads of one program become one. */
export type Aggregation = 'sum' | 'max' | 'min' | 'first'

/** What one metric is. */
export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly programs: readonly MetricProgram[]
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[]
  /** Of a gauge; counters and histograms are summed up. Default `sum`. */
  readonly aggregation?: Aggregation
}

/** From a point read to the longest query that is allowed. */
export const answerSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Labels of what belongs to one reader. */
export const reader = ['reader'] as const
