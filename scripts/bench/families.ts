/** Contract accounts on the benchmark chains. */
const accounts: Readonly<Record<string, string>> = {
  assets: 'atomicassets',
  market: 'atomicmarket',
  tools: 'atomictoolsx',
}

/** Namespaces of a family for the configuration of a benchmark API. The path is the name of the family. */
export function benchNamespaces(family: string): readonly Record<string, unknown>[] {
  return [{ name: family, path: `/${family}`, args: { [`${family}_account`]: accounts[family] } }]
}
