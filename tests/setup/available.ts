import { describe, it } from 'vitest'

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
