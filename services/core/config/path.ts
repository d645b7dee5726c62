/** Keys and indexes from the root of a JSON value to a place in it. */
export type Path = readonly (string | number)[]

/** Formats a path as `chain.http` or `[0].contracts[1].handler`; keys that are not plain words are quoted. */
export function formatPath(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`
      if (!/^[\w$-]+$/.test(part)) return `[${JSON.stringify(part)}]`
      return index === 0 ? part : `.${part}`
    })
    .join('')
}

/** Value at a path of a JSON value; undefined if the path does not exist. Own keys only. */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value
  for (const part of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, part)) return undefined
    current = Reflect.get(current, part)
  }
  return current
}

/** Whether a value is a JSON object: neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
