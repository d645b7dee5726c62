export { packageRoot, readOldestNodejs, readPackageVersion } from './package-root.ts'
export { readRevision } from './revision.ts'

/** Folder in a container with the files (configuration, keys) that `pronghorn render-config` writes for it. */
export const CONTAINER_FOLDER = '/etc/pronghorn'
