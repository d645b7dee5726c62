import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findPackageRoot, packageRoot, readPackageVersion } from './package-root.ts'

it('the search for the package root finds the package from the sources and from the build', () => {
  expect(existsSync(join(packageRoot, 'tsconfig.json'))).toBe(true)
  expect(findPackageRoot(join(packageRoot, 'dist', 'services', 'core', 'paths'))).toBe(packageRoot)
  expect(readPackageVersion()).toMatch(/^\d+\.\d+\.\d+/)
})

it('the search for the package root fails if no folder of the path has a package.json', () => {
  expect(() => findPackageRoot('/')).toThrow(/no package\.json/)
})
