export { packageRoot, readOldestNodejs, readPackageVersion } from './package-root.ts'
export { readRevision } from './revision.ts'

/** Where a container has the files that are rendered for it. */
export const CONTAINER_FOLDER = '/etc/pronghorn'
