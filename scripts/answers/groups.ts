import type { Difference } from './difference.ts'

/** A difference and the request that showed it. */
export interface FoundDifference extends Difference {
  /** Endpoint as in the OpenAPI document, for example `GET /assets/v1/assets`. */
  readonly endpoint: string
  /** `curl` command that repeats the request. */
  readonly command: string
  /** Why the difference is expected; undefined if it is unexpected. */
  readonly reason?: string | undefined
}

/** Differences of one endpoint, path and kind. */
export interface DifferenceGroup {
  /** The first difference of the group. */
  readonly example: FoundDifference
  readonly count: number
}

/**
 * Groups differences by endpoint, path, kind and reason. Large groups come first; groups of expected
 * differences come last.
 */
export function groupDifferences(found: Iterable<FoundDifference>): DifferenceGroup[] {
  const groups = new Map<string, { example: FoundDifference; count: number }>()
  for (const difference of found) {
    const { endpoint, path, kind, reason = '' } = difference
    const key = [endpoint, path, kind, reason].join('\n')
    const group = groups.get(key)
    if (group) group.count++
    else groups.set(key, { example: difference, count: 1 })
  }
  const isExplained = (group: DifferenceGroup): number => (group.example.reason === undefined ? 0 : 1)
  return [...groups.values()].sort((a, b) => isExplained(a) - isExplained(b) || b.count - a.count)
}

/** Lines of the report about a group of equal differences. */
export function describeGroup({ example, count }: DifferenceGroup): string[] {
  const { endpoint, path, kind, reason, command, shown } = example
  return [
    `${count} x ${endpoint} ${path === '' ? '' : `${path}: `}${kind}${reason === undefined ? '' : ` (expected: ${reason})`}`,
    `    A ${shown[0]}`,
    `    B ${shown[1]}`,
    `    ${command}`,
  ]
}
