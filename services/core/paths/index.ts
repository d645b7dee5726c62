export { packageRoot, readPackageVersion } from './package-root.ts'
export { readRevision } from './revision.ts'
