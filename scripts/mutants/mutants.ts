/**
 * Mutation testing: changes the code in one place at a time, in a copy, and lists the changes that no test detects.
 * Usage: npm run mutants -- [--known] [--sample 5] [--area handlers] [--seed 1]
 * `--known`: only the mutations that no test once detected. `--sample N`: N random mutations of each area, or of the
 * named one.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageRoot } from '../../services/core/paths/index.ts'
import { areas } from './areas.ts'
import { mutantsOf } from './draw.ts'
import { knownMutants } from './known.ts'

/** Time limit of the tests for one mutation, ms. A timeout counts as detected. */
const MAX_TEST_MS = 300_000

const { values } = parseArgs({
  options: {
    known: { type: 'boolean', default: false },
    sample: { type: 'string', default: '0' },
    area: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
})

/** A mutation to try: the mutated file, and the tests that must fail. */
interface Attempt {
  readonly title: string
  readonly file: string
  readonly text: string
  readonly tests: readonly string[]
}

const copy = mkdtempSync(join(tmpdir(), 'pronghorn-mutants-'))
try {
  const survivors = tryAll(copyProject(), [...knownAttempts(), ...drawnAttempts()])
  for (const title of survivors) console.info(`survives: ${title}`)
  process.exitCode = survivors.length === 0 ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/**
 * Copies the files that git tracks.
 * @returns the folder of the copy.
 */
function copyProject(): string {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: packageRoot, encoding: 'utf8' })
  for (const file of files.split('\0').filter((name) => name !== '')) {
    mkdirSync(join(copy, dirname(file)), { recursive: true })
    cpSync(join(packageRoot, file), join(copy, file))
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(copy, 'node_modules'))
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: copy, stdio: 'inherit' })
  return copy
}

function knownAttempts(): Attempt[] {
  if (!values.known) return []
  return knownMutants.map(({ behaviour, file, from, to, tests }) => {
    const text = readFileSync(join(packageRoot, file), 'utf8')
    if (text.split(from).length !== 2)
      throw new Error(`${file} must contain ${JSON.stringify(from)} exactly once`)
    return { title: behaviour, file, text: text.replace(from, () => to), tests }
  })
}

function drawnAttempts(): Attempt[] {
  const names = values.area === undefined ? Object.keys(areas) : [values.area]
  return names.flatMap((name) => {
    const area = areas[name]
    if (area === undefined) throw new Error(`no area ${name}: ${Object.keys(areas).join(', ')}`)
    const all = mutantsOf(packageRoot, area.folder)
    return Array.from({ length: Math.min(Number(values.sample), all.length) }, (_, at) => {
      const [mutant] = all.splice(Math.floor(drawn(`${name} ${at}`) * all.length), 1)
      const { file, line, start, end, from, to } = mutant!
      const text = readFileSync(join(packageRoot, file), 'utf8')
      return {
        title: `${file}:${line}: ${from.trim()} -> ${to.trim()}`,
        file,
        text: text.slice(0, start) + to + text.slice(end),
        tests: area.tests,
      }
    })
  })
}

/**
 * Tries all mutations.
 * @returns the titles of the mutations that no test detects.
 */
function tryAll(root: string, attempts: readonly Attempt[]): string[] {
  const survivors: string[] = []
  for (const tests of new Set(attempts.map((attempt) => attempt.tests.join(' '))))
    if (failedTest(root, tests.split(' ')) !== undefined)
      throw new Error(`${tests} fail in a copy without mutations`)
  for (const [at, { title, file, text, tests }] of attempts.entries()) {
    const original = readFileSync(join(root, file), 'utf8')
    writeFileSync(join(root, file), text)
    const noticed = failedTest(root, tests)
    writeFileSync(join(root, file), original)
    if (noticed === undefined) survivors.push(title)
    console.info(`${at + 1} of ${attempts.length}: ${title}: ${noticed ?? 'SURVIVES'}`)
  }
  return survivors
}

/**
 * Runs tests until the first failure.
 * @returns the title of the failed test.
 */
function failedTest(root: string, tests: readonly string[]): string | undefined {
  const output = join(root, '.data/test-results.json')
  rmSync(output, { force: true })
  const { status } = spawnSync('npx', ['vitest', 'run', ...tests, '--bail', '1'], {
    cwd: root,
    stdio: 'ignore',
    timeout: MAX_TEST_MS,
  })
  if (status === 0) return undefined
  try {
    const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as {
      testResults: {
        name: string
        message: string
        assertionResults: { status: string; fullName: string }[]
      }[]
    }
    const failed = testResults
      .flatMap((file) => file.assertionResults)
      .find((test) => test.status === 'failed')
    return failed?.fullName ?? 'a test file does not load'
  } catch {
    return `the tests did not end within ${MAX_TEST_MS / 1_000} s`
  }
}

/** Pseudo-random number from 0 to 1, derived from the seed and a text. */
function drawn(place: string): number {
  return createHash('sha256').update(`${values.seed} ${place}`).digest().readUInt32LE(0) / 2 ** 32
}
