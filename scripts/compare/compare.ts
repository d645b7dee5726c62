/**
 * Sends the same random requests to two servers and compares the answers; see CONTRIBUTING.md.
 * Usage: npm run compare -- BASE_A BASE_B [--seed 1] [--requests 5000] [--rate 100] [--at-once 4] [--timeout 10000]
 * [--expected FILE]
 *
 * Exit codes: 0 = no unexpected difference, 1 = differences, 2 = the comparison cannot run.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describeGroup, groupDifferences } from '../answers/index.ts'
import { CannotCompare, compareServers } from './run.ts'
import type { CompareSettings, Comparison, ExpectedDifference } from './run.ts'

const USAGE =
  'Usage: npm run compare -- BASE_A BASE_B [--seed N] [--requests N] [--rate N] [--at-once N] [--timeout MS] [--expected FILE]'

/** Limit of unanswered requests that are printed. */
const MAX_UNANSWERED_SHOWN = 5

function readSettings(args: readonly string[]): CompareSettings {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: '1' },
      requests: { type: 'string', default: '5000' },
      rate: { type: 'string', default: '100' },
      'at-once': { type: 'string', default: '4' },
      timeout: { type: 'string', default: '10000' },
      expected: { type: 'string' },
    },
  })
  if (positionals.length !== 2)
    throw new CannotCompare(`the command line has ${positionals.length} addresses instead of two. ${USAGE}`)
  const [baseA, baseB] = positionals.map(baseOf)
  return {
    baseA: baseA!,
    baseB: baseB!,
    seed: numberOf('seed', values.seed, 0, 2 ** 32),
    requests: numberOf('requests', values.requests, 1, 100_000_000),
    perSecond: numberOf('rate', values.rate, 1, 100_000),
    atOnce: numberOf('at-once', values['at-once'], 1, 64),
    timeoutMs: numberOf('timeout', values.timeout, 1, 600_000),
    ...(values.expected === undefined ? {} : { expected: readExpected(values.expected) }),
  }
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CannotCompare(`${text} is not a URL: write a URL such as http://localhost:9000`)
  return url.href.replace(/\/+$/, '')
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN
  if (value >= least && value <= most) return value
  throw new CannotCompare(`--${name} ${text} is not a whole number from ${least} to ${most}`)
}

function readExpected(path: string): ExpectedDifference[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ExpectedDifference[]
  } catch (error) {
    throw new CannotCompare(`${path} cannot be read as JSON: ${(error as Error).message}`, { cause: error })
  }
}

function report({ compared, withContent, endpoints, unanswered, differences }: Comparison): boolean {
  console.log(
    `${compared} requests compared on ${endpoints.asked} endpoints; ` +
      `${withContent} answers of ${endpoints.withContent} endpoints had content; ` +
      `${unanswered.length} requests were not answered in time`,
  )
  for (const line of unanswered.slice(0, MAX_UNANSWERED_SHOWN)) console.log(`  ${line}`)
  const groups = groupDifferences(differences)
  for (const line of groups.flatMap(describeGroup)) console.log(line)
  const unexplained = groups.filter(({ example }) => example.reason === undefined).length
  console.log(`${unexplained} unexpected kinds of differences, ${groups.length - unexplained} expected kinds`)
  return unexplained === 0 && unanswered.length === 0
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  try {
    return report(await compareServers(readSettings(args))) ? 0 : 1
  } catch (error) {
    const isUsage = error instanceof TypeError && 'code' in error
    if (!(error instanceof CannotCompare) && !isUsage) throw error
    console.error(isUsage ? `${error.message}. ${USAGE}` : error.message)
    return 2
  }
}

process.exitCode = await main(process.argv.slice(2))
