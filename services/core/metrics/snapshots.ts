import { AggregatorRegistry } from 'prom-client'
import type { MetricSnapshot } from './metrics.ts'

/** Content type of the text from `renderSnapshots`. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Renders the snapshots of all processes or threads of a program as one Prometheus text: counters and histograms are
 * summed, gauges are aggregated as the catalogue declares.
 */
export function renderSnapshots(snapshots: readonly MetricSnapshot[]): Promise<string> {
  return merge(snapshots).metrics()
}

/**
 * Merges the counters and histograms of several snapshots. The counts of an ended process must stay in the sums:
 * otherwise the sums would decrease, and Prometheus would treat the decrease as a counter reset.
 */
export async function mergeCounts(snapshots: readonly MetricSnapshot[]): Promise<MetricSnapshot> {
  const counts = snapshots.map((snapshot) =>
    snapshot.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram'),
  )
  return merge(counts).getMetricsAsJSON()
}

type Aggregatable = Parameters<typeof AggregatorRegistry.aggregate>[0]

function merge(snapshots: readonly MetricSnapshot[]): ReturnType<typeof AggregatorRegistry.aggregate> {
  return AggregatorRegistry.aggregate(snapshots as unknown as Aggregatable)
}
