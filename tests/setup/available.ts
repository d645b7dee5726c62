import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, it } from 'vitest'

/** Path of a program on the PATH; undefined when it is not there. */
export function findProgram(name: string): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/**
 * `describe` for what needs a part that a machine may lack. With a `reason` (why the part is not there) the suite
 * counts as skipped and says why; with PRONGHORN_REQUIRE_ALL=1 it fails instead.
 */
export function describeUnless(reason: string | undefined, name: string, suite: () => void): void {
  if (reason === undefined) {
    describe(name, suite)
    return
  }
  if (process.env.PRONGHORN_REQUIRE_ALL === '1') {
    it(name, () => {
      throw new Error(`${reason}, and PRONGHORN_REQUIRE_ALL=1 asks for every suite`)
    })
    return
  }
  console.warn(`skipped: ${name}: ${reason}`)
  describe.skipIf(true)(`${name} (${reason})`, suite)
}
