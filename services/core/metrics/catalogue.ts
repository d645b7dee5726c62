import { apiMetrics } from './catalogue/api.ts'
import type { MetricEntry } from './catalogue/entry.ts'
import { installationMetrics } from './catalogue/installation.ts'
import { readerMetrics } from './catalogue/readers.ts'

export type { MetricEntry, MetricProgram } from './catalogue/entry.ts'

/**
 * Every metric of the program. `docs/metrics.md` is generated from this table, and a name that is not in it does not
 * compile. Labels only take values from sets that no client can enlarge.
 */
export const metricCatalogue = { ...apiMetrics, ...readerMetrics, ...installationMetrics }

type Catalogue = typeof metricCatalogue

/** Name of a metric. */
export type MetricName = keyof Catalogue

/** Names of the metrics of one kind. */
export type MetricNameOf<K extends MetricEntry['kind']> = {
  [N in MetricName]: Catalogue[N]['kind'] extends K ? N : never
}[MetricName]

/** The labels of a metric, all of them. */
export type MetricLabels<N extends MetricName> = Readonly<Record<Catalogue[N]['labels'][number], string>>
