import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, it } from 'vitest'

/** Path of a program on the PATH; undefined if it is missing. */
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
 * `describe` for tests that need a part which a machine may lack. `reason` tells why the part is missing: the suite is
 * then skipped with that reason, or fails with PRONGHORN_REQUIRE_ALL=1. Undefined runs the suite.
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
