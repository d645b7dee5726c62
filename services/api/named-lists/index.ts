export { createNamedLists } from './named-lists.ts'
export type { CachedLists, ListLookup, NamedListsOptions } from './named-lists.ts'
