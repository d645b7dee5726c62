export { findPackageRoot, packageRoot, readPackageVersion } from './package-root.ts'
