import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FatalError } from '../errors/index.ts'

/**
 * Directory of the nearest package.json at or above `startDir`.
 * @throws FatalError INSTALLATION_BROKEN when there is none up to the root of the file system.
 */
export function findPackageRoot(startDir: string): string {
  let dir = startDir
  for (;;) {
    if (existsSync(join(dir, 'package.json'))) return dir
    const parent = dirname(dir)
    if (parent === dir) throw new FatalError('INSTALLATION_BROKEN', `no package.json at or above ${startDir}`)
    dir = parent
  }
}

/** Absolute path of the installed package; the same from `services/` and from `dist/services/`. */
export const packageRoot: string = findPackageRoot(dirname(fileURLToPath(import.meta.url)))

/**
 * The `version` of package.json, such as `1.0.0`.
 * @throws FatalError INSTALLATION_BROKEN when the file cannot be read.
 */
export function readPackageVersion(): string {
  return readDescription().version
}

/**
 * The oldest Node.js that `engines` of package.json allows, such as `20.19`.
 * @throws FatalError INSTALLATION_BROKEN when the file cannot be read.
 */
export function readOldestNodejs(): string {
  return /[\d.]+/.exec(readDescription().engines.node)?.[0] ?? '0'
}

interface PackageDescription {
  readonly version: string
  readonly engines: { readonly node: string }
}

function readDescription(): PackageDescription {
  const file = join(packageRoot, 'package.json')
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PackageDescription
  } catch (cause) {
    throw new FatalError('INSTALLATION_BROKEN', `${file} cannot be read`, { cause })
  }
}
