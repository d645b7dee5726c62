/** Accounts of the contracts on the chains that are measured. */
const accounts: Readonly<Record<string, string>> = {
  assets: 'atomicassets',
  market: 'atomicmarket',
  tools: 'atomictoolsx',
}

/** The namespace of a family in the configuration of a measured api; its path is the name of the family. */
export function benchNamespaces(family: string): readonly Record<string, unknown>[] {
  return [{ name: family, path: `/${family}`, args: { [`${family}_account`]: accounts[family] } }]
}
