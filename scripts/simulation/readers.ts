/** How many readers share the database of a seed. */
export type ReaderCount = 1 | 2

/** Names of the readers, in the order of their contracts. */
export const readerNames = ['simulated', 'second'] as const
