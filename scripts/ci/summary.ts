/** Prints the test counts of the last runs as plain lines; fails if a test failed or a suite was skipped. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../services/core/paths/index.ts'

interface TestResults {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
}

/** Result files in `.data`, by the PostgreSQL version on which the tests ran. */
const runs = { 'PostgreSQL 14': 'test-results.json', 'PostgreSQL 18': 'test-results-18.json' }
const total = { passed: 0, failed: 0, skipped: 0 }

for (const [server, file] of Object.entries(runs)) {
  const results = JSON.parse(readFileSync(join(packageRoot, '.data', file), 'utf8')) as TestResults
  total.passed += results.numPassedTests
  total.failed += results.numFailedTests
  total.skipped += results.numPendingTests + results.numTodoTests
  console.log(`on ${server}: ${results.numPassedTests} passed`)
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
if (total.skipped > 0 || total.failed > 0) process.exitCode = 1
