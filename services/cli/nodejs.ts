import { FatalError } from '../core/errors/index.ts'
import { readOldestNodejs } from '../core/paths/index.ts'

/** Refuses a Node.js version below the minimum of package.json. @throws FatalError `NODEJS_TOO_OLD`. */
export function checkNodejs(version = process.versions.node): void {
  const oldest = readOldestNodejs()
  if (version.localeCompare(oldest, 'en', { numeric: true }) >= 0) return
  throw new FatalError(
    'NODEJS_TOO_OLD',
    `Node.js ${version} runs this program, but ${oldest} or later is required`,
  )
}
