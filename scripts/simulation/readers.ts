/** How many readers share the database of a seed. */
export type ReaderCount = 1 | 2

/** Names of the first and the second reader of a seed; a seed with one reader has only the first. */
export const readerNames = ['simulated', 'second'] as const
