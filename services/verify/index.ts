export { compareDigests, digestDatabase, listDigestTables } from './digest/index.ts'
export type { DatabaseDigest, DigestOptions, DigestPosition, TableDigest } from './digest/index.ts'
