import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import { readPackageVersion } from '../paths/index.ts'
import { metricCatalogue } from './catalogue.ts'
import type { MetricEntry, MetricLabels, MetricName, MetricNameOf, MetricProgram } from './catalogue.ts'

/** All series of one process or thread at one time. It can be sent to another process as JSON. */
export type MetricSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Takes what the parts of one process or thread count and measure. */
export interface Metrics {
  /** Raises a counter, by 1 by default. */
  count<N extends MetricNameOf<'counter'>>(name: N, labels: MetricLabels<N>, by?: number): void
  /** Raises a counter to a total that is counted elsewhere. A total that fell started again at 0. */
  countTo<N extends MetricNameOf<'counter'>>(name: N, labels: MetricLabels<N>, total: number): void
  set<N extends MetricNameOf<'gauge'>>(name: N, labels: MetricLabels<N>, value: number): void
  observe<N extends MetricNameOf<'histogram'>>(name: N, labels: MetricLabels<N>, value: number): void
  /** Calls `collect` before each snapshot, for what is cheaper to ask than to follow. */
  beforeSnapshot(collect: () => void): void
  snapshot(): Promise<MetricSnapshot>
}

/** Options of `createMetrics`. */
export interface MetricsOptions {
  /** Adds the metrics of Node.js. Default true; a thread leaves that to its process. */
  readonly ofProcess?: boolean
}

type Instruments = Readonly<Record<MetricName, Counter | Gauge | Histogram | undefined>>

/** Creates the metrics of a program, as the catalogue lists them. */
export function createMetrics(program: MetricProgram, options: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  const instruments = createInstruments(program, registry)
  const totals = new Map<string, number>()
  const collectors: (() => void)[] = []
  const find = (name: MetricName): Counter | Gauge | Histogram | undefined => instruments[name]
  const metrics: Metrics = {
    count(name, labels, by = 1) {
      const counter = find(name)
      if (counter instanceof Counter) counter.inc(labels, by)
    },
    countTo(name, labels, total) {
      const key = JSON.stringify([name, labels])
      const before = totals.get(key) ?? 0
      totals.set(key, total)
      metrics.count(name, labels, total >= before ? total - before : total)
    },
    set(name, labels, value) {
      const gauge = find(name)
      if (gauge instanceof Gauge) gauge.set(labels, value)
    },
    observe(name, labels, value) {
      const histogram = find(name)
      if (histogram instanceof Histogram) histogram.observe(labels, value)
    },
    beforeSnapshot(collect) {
      collectors.push(collect)
    },
    snapshot() {
      for (const collect of collectors) collect()
      return registry.getMetricsAsJSON()
    },
  }
  if (options.ofProcess ?? true) {
    collectDefaultMetrics({ register: registry })
    metrics.set('pronghorn_build_info', { version: readPackageVersion() }, 1)
  }
  return metrics
}

function createInstruments(program: MetricProgram, registry: Registry): Instruments {
  const names = Object.keys(metricCatalogue) as MetricName[]
  const entries = names.map((name) => {
    const entry: MetricEntry = metricCatalogue[name]
    return [name, entry.programs.includes(program) ? createInstrument(name, entry, registry) : undefined]
  })
  return Object.fromEntries(entries) as Instruments
}

function createInstrument(
  name: MetricName,
  entry: MetricEntry,
  registry: Registry,
): Counter | Gauge | Histogram {
  const options = { name, help: entry.help, labelNames: entry.labels, registers: [registry] }
  switch (entry.kind) {
    case 'counter':
      return new Counter(options)
    case 'gauge': {
      const gauge = new Gauge({ ...options, aggregator: entry.aggregation ?? 'sum' })
      // A process or thread that never sets it must not take part in a minimum, with 0.
      if (entry.aggregation === 'min' && entry.labels.length === 0) gauge.remove()
      return gauge
    }
    case 'histogram':
      return new Histogram({ ...options, buckets: [...(entry.buckets ?? [])] })
  }
}
