import type { Endpoint } from '../../../services/api/index.ts'
import type { Form } from '../../../services/core/endpoint/index.ts'
import { marketCompanions } from './market-examples.ts'
import type { Example, ExampleKind, Examples } from './examples.ts'

/**
 * One request to an endpoint: sort, order, at most one filter, and the parameters that the endpoint requires with them.
 */
export interface RequestCase {
  readonly endpoint: Endpoint
  /** Name of the filter; empty for none. */
  readonly filter: string
  readonly kind: ExampleKind | 'all'
  /** Sort and order; empty if the endpoint has none. */
  readonly sort: string
  readonly order: string
  /** Values of the path parameters. */
  readonly segments: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

/** Parameters that are not filters. */
const noFilters = new Set(['page', 'limit', 'sort', 'order', 'count'])

const kinds: readonly string[] = ['rare', 'typical', 'popular', 'missing', 'all']

/** Attribute filters that are measured, by attribute family. */
const filteredAttributes: Readonly<Record<string, readonly string[]>> = {
  data: ['data.rarity', 'data:number.power', 'data:bool.foil', 'data.text'],
  template_data: ['template_data.rarity', 'template_data:number.power'],
  immutable_data: ['immutable_data.rarity', 'immutable_data.serial', 'immutable_data.no such'],
  mutable_data: ['mutable_data:number.level', 'mutable_data.status', 'mutable_data.no such'],
}

/**
 * All cases to measure: each endpoint with every sort, both orders, and every single filter with every example value.
 */
export function requestCases(endpoints: readonly Endpoint[], examples: Examples): RequestCase[] {
  return endpoints.flatMap((endpoint) => casesOf(endpoint, examples))
}

/**
 * One case for each combination of endpoint, sort and filter. Among the cases of a combination, the case whose kind of
 * example value comes first in `kinds` is chosen.
 */
export function fewerCases(cases: readonly RequestCase[]): RequestCase[] {
  const chosen = new Map<string, RequestCase>()
  for (const request of cases) {
    const name = [request.endpoint.path, request.sort, request.filter].join(' ')
    const before = chosen.get(name)
    if (!before || kinds.indexOf(request.kind) < kinds.indexOf(before.kind)) chosen.set(name, request)
  }
  return [...chosen.values()]
}

function casesOf(endpoint: Endpoint, examples: Examples): RequestCase[] {
  const path = Object.keys(endpoint.parameters).filter((name) => endpoint.parameters[name]!.in === 'path')
  const cases: RequestCase[] = []
  for (const segments of segmentSets(endpoint, path, examples)) {
    for (const { sort, order } of sortsOf(endpoint)) {
      const sorted = { ...(sort === '' ? {} : { sort }), ...(order === '' ? {} : { order }) }
      const common = { endpoint, sort, order, segments: segments.values }
      const withRequired = (filter: string): Record<string, string> => ({
        ...sorted,
        ...companionsOf(endpoint, sort, filter, examples),
      })
      const kind = path.length > 0 ? segments.kind : 'all'
      cases.push({ ...common, filter: '', kind, query: withRequired('') })
      for (const [filter, example] of filtersOf(endpoint, examples)) {
        cases.push({
          ...common,
          filter,
          kind: example.kind,
          query: { ...withRequired(filter), [filter]: example.value },
        })
      }
    }
  }
  return cases
}

/** Parameters that the endpoint requires besides a filter, each with its most frequent value. */
function companionsOf(
  endpoint: Endpoint,
  sort: string,
  filter: string,
  examples: Examples,
): Record<string, string> {
  const given = marketCompanions(endpoint, sort, filter).flatMap((name) => {
    const parameter = endpoint.parameters[name]
    const [first] = parameter ? examplesOf(endpoint, name, parameter, examples) : []
    return first ? [[name, first.value] as const] : []
  })
  return Object.fromEntries(given)
}

function sortsOf(endpoint: Endpoint): { sort: string; order: string }[] {
  if (endpoint.path.endsWith('/_count')) return [{ sort: '', order: '' }]
  const valuesOf = (name: string): readonly string[] => endpoint.parameters[name]?.values ?? ['']
  return valuesOf('sort').flatMap((sort) => valuesOf('order').map((order) => ({ sort, order })))
}

function filtersOf(endpoint: Endpoint, examples: Examples): [string, Example][] {
  const filters = Object.entries(endpoint.parameters).filter(
    ([name, parameter]) => parameter.in !== 'path' && !noFilters.has(name),
  )
  const named = filters.flatMap(([name, parameter]) =>
    examplesOf(endpoint, name, parameter, examples).map((example): [string, Example] => [name, example]),
  )
  const attributes = (endpoint.attributes ?? []).flatMap((family) =>
    (filteredAttributes[family] ?? []).flatMap((key) =>
      (examples.get(key) ?? []).map((example): [string, Example] => [key, example]),
    ),
  )
  return [...named, ...attributes]
}

/** Example values of a parameter: by tag and name, by name, or by type. */
function examplesOf(
  endpoint: Endpoint,
  name: string,
  parameter: Form,
  examples: Examples,
): readonly Example[] {
  if (parameter.values) return typical(parameter.values)
  if (parameter.type === 'bool') return typical(['true', 'false'])
  const known = examples.get(`${endpoint.tag} ${name}`) ?? examples.get(name)
  if (known) return known
  if (parameter.type === 'name') return examples.get('account') ?? []
  return typical(parameter.type === 'string' ? ['a'] : ['1', '1000'])
}

function typical(values: readonly string[]): Example[] {
  return values.map((value) => ({ kind: 'typical', value }))
}

/** Sets of path parameter values: the first parameter varies, the others belong to the same record if possible. */
function segmentSets(
  endpoint: Endpoint,
  path: readonly string[],
  examples: Examples,
): { kind: ExampleKind; values: Record<string, string> }[] {
  const [first, ...rest] = path
  if (!first) return [{ kind: 'typical', values: {} }]
  const parameterOf = (name: string) => endpoint.parameters[name]!
  return examplesOf(endpoint, first, parameterOf(first), examples)
    .filter(({ value }) => value !== 'null')
    .map(({ kind, value }) => ({
      kind,
      values: {
        [first]: value,
        ...Object.fromEntries(
          rest.map((name) => [
            name,
            examplesOf(endpoint, name, parameterOf(name), examples).find((example) => example.kind === kind)
              ?.value ?? value,
          ]),
        ),
      },
    }))
}

/** Path and query of a case below the namespace, for example `/v1/assets?sort=updated&order=asc`. */
export function addressOf(
  { endpoint, segments, query }: RequestCase,
  extra: Readonly<Record<string, string>> = {},
): string {
  const path = endpoint.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(segments[name]!))
  const text = new URLSearchParams({ ...query, ...extra }).toString()
  return text === '' ? path : `${path}?${text}`
}
