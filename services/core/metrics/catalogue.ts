import { apiMetrics } from './catalogue/api.ts'
import type { MetricEntry } from './catalogue/entry.ts'
import { installationMetrics } from './catalogue/installation.ts'
import { readerMetrics } from './catalogue/readers.ts'

export type { MetricEntry, MetricProgram } from './catalogue/entry.ts'

/**
 * Every metric of the program. `docs/metrics.md` is generated from this table, and an unknown name does not compile.
 * Label values come from fixed sets, so that no client can create series without limit.
 */
export const metricCatalogue = { ...apiMetrics, ...readerMetrics, ...installationMetrics }

type Catalogue = typeof metricCatalogue

export type MetricName = keyof Catalogue

/** Names of the metrics of one kind: counter, gauge or histogram. */
export type MetricNameOf<K extends MetricEntry['kind']> = {
  [N in MetricName]: Catalogue[N]['kind'] extends K ? N : never
}[MetricName]

/** All labels of a metric with their values. */
export type MetricLabels<N extends MetricName> = Readonly<Record<Catalogue[N]['labels'][number], string>>
