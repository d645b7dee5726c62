import { AggregatorRegistry } from 'prom-client'
import type { MetricSnapshot } from './metrics.ts'

/** Content type of what `renderSnapshots` returns. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * The snapshots of all processes or threads of a program as one text in the Prometheus format: counters and
 * histograms are summed up, gauges as the catalogue says.
 */
export function renderSnapshots(snapshots: readonly MetricSnapshot[]): Promise<string> {
  return merge(snapshots).metrics()
}

/**
 * One snapshot with the counters and histograms of several. What a process counted must stay in the sums after it
 * has ended, or they would fall and be read as having begun again.
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
