import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import { readPackageVersion } from '../paths/index.ts'
import { metricCatalogue } from './catalogue.ts'
import type { MetricEntry, MetricLabels, MetricName, MetricNameOf, MetricProgram } from './catalogue.ts'

/** Values of all metrics of one process or thread at one time, in a form that can be sent as JSON. */
export type MetricSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Receives the measurements of one process or thread. */
export interface Metrics {
  /** Increments a counter, by 1 by default. */
  count<N extends MetricNameOf<'counter'>>(name: N, labels: MetricLabels<N>, by?: number): void
  /** Sets a counter to a total that is counted elsewhere. If the total decreased, its source has restarted at 0. */
  countTo<N extends MetricNameOf<'counter'>>(name: N, labels: MetricLabels<N>, total: number): void
  set<N extends MetricNameOf<'gauge'>>(name: N, labels: MetricLabels<N>, value: number): void
  observe<N extends MetricNameOf<'histogram'>>(name: N, labels: MetricLabels<N>, value: number): void
  /** Registers a function that runs before each snapshot, for values that are cheaper to read than to track. */
  beforeSnapshot(collect: () => void): void
  snapshot(): Promise<MetricSnapshot>
}

export interface MetricsOptions {
  /**
   * Whether to add the metrics of Node.js; default true. A thread passes false, because its process reports
   * these metrics.
   */
  readonly ofProcess?: boolean
}

type Instruments = Readonly<Record<MetricName, Counter | Gauge | Histogram | undefined>>

/** Creates the metrics of a program from the catalogue. */
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
      // A new gauge has the value 0. Remove the value: a process that never sets the gauge must not take part in the
      // minimum.
      if (entry.aggregation === 'min' && entry.labels.length === 0) gauge.remove()
      return gauge
    }
    case 'histogram':
      return new Histogram({ ...options, buckets: [...(entry.buckets ?? [])] })
  }
}
