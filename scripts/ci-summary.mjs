// Prints what the test run counted as one plain line, and fails when a suite was left out.
import { readFileSync } from 'node:fs'

const results = JSON.parse(readFileSync(new URL('../.data/test-results.json', import.meta.url), 'utf8'))
const skipped = results.numPendingTests + results.numTodoTests
console.log(`${results.numPassedTests} passed, ${results.numFailedTests} failed, ${skipped} skipped`)
if (skipped > 0 || results.numFailedTests > 0) process.exit(1)
