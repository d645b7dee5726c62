/** The namespace of a family in the configuration of a measured api; its path is the name of the family. */
export function benchNamespaces(family: string): readonly Record<string, unknown>[] {
  return [{ name: family, path: `/${family}`, args: { [`${family}_account`]: `atomic${family}` } }]
}
