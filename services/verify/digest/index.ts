export { compareDigests, digestDatabase, listDigestTables } from './digest.ts'
export type { DatabaseDigest, DigestOptions, DigestPosition, TableDigest } from './digest.ts'
