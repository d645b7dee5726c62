import { metricCatalogue } from '../../services/core/metrics/index.ts'
import type { MetricEntry } from '../../services/core/metrics/index.ts'
import { createMetrics } from '../../services/core/metrics/index.ts'

/** A metric that an expression reads, with the labels in its selector. */
interface Selector {
  readonly name: string
  readonly labels: readonly string[]
}

/** Labels that Prometheus adds to every series. */
const scrapeLabels = ['job', 'instance']

/** Finds every metric that an expression reads. */
function readSelectors(expr: string): Selector[] {
  const selectors = expr.matchAll(/\b((?:pronghorn|process|nodejs)_\w+|up\b)(?:\{([^}]*)\})?/g)
  return [...selectors].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }))
}

/** Finds the metrics and labels of an expression that no service exports. */
export async function findUnknown(expr: string): Promise<string[]> {
  const known = await knownMetrics()
  const problems: string[] = []
  const labels = new Set(scrapeLabels)
  for (const selector of readSelectors(expr)) {
    const own = known.get(selector.name)
    if (own === undefined) problems.push(selector.name)
    else for (const label of own) labels.add(label)
    for (const label of selector.labels)
      if (own && ![...own, ...scrapeLabels].includes(label)) problems.push(`${selector.name}{${label}}`)
  }
  for (const [, list = ''] of expr.matchAll(/\b(?:by|on|ignoring)\s*\(([^)]*)\)/g))
    for (const label of list.split(',').map((each) => each.trim()))
      if (!labels.has(label)) problems.push(`by (${label})`)
  return problems
}

/** Labels of every exported metric, by metric name. */
async function knownMetrics(): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Map<string, readonly string[]>([['up', []]])
  for (const { name, labelNames } of (await createMetrics('api').snapshot()) as readonly {
    name: string
    labelNames?: readonly string[]
  }[])
    known.set(name, labelNames ?? [])
  for (const [name, { kind, labels }] of Object.entries<MetricEntry>(metricCatalogue)) {
    if (kind !== 'histogram') known.set(name, labels)
    else for (const part of ['bucket', 'sum', 'count']) known.set(`${name}_${part}`, [...labels, 'le'])
  }
  return known
}
