export { createNamedLists } from './named-lists.ts'
export type { KeptLists, ListLookup, NamedListsOptions } from './named-lists.ts'
