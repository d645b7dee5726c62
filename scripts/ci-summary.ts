/** Prints what the last test run counted as one plain line; fails when a test failed or a suite was left out. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../services/core/paths/index.ts'

interface TestResults {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
}

const results = JSON.parse(readFileSync(join(packageRoot, '.data/test-results.json'), 'utf8')) as TestResults
const skipped = results.numPendingTests + results.numTodoTests
console.log(`${results.numPassedTests} passed, ${results.numFailedTests} failed, ${skipped} skipped`)
if (skipped > 0 || results.numFailedTests > 0) process.exitCode = 1
