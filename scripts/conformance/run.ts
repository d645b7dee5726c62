import { judge } from './comparison/index.ts'
import type { Entry, Reply, Verdict } from './comparison/index.ts'
import type { CorpusName } from './corpus.ts'
import { readCorpus, readDifferences, readRules } from './corpus.ts'

/** An entry that did not come out right. */
export interface Failure {
  readonly entry: Entry
  readonly verdict: Verdict
  /** The reason that `differences.json` gives; undefined for an unexplained one. */
  readonly reason: string | undefined
}

/** How a corpus came out. */
export interface Outcome {
  readonly corpus: CorpusName
  /** Entries by result. */
  readonly tally: Readonly<Partial<Record<Verdict['result'], number>>>
  readonly failures: readonly Failure[]
  /** Entries that `differences.json` explains although they come out right. */
  readonly outdated: readonly string[]
}

/** Requests that are under way at the same time. */
const CONCURRENCY = 4

/** Sends every entry of a corpus to a server and judges the answers. */
export async function runCorpus(corpus: CorpusName, baseUrl: string): Promise<Outcome> {
  const entries = readCorpus(corpus)
  const verdicts = await judgeAll(entries, baseUrl)
  const tally: Partial<Record<Verdict['result'], number>> = {}
  const failures: Failure[] = []
  const outdated: string[] = []
  const reasons = knownReasons()
  for (const entry of entries) {
    const verdict = verdicts.get(entry)!
    tally[verdict.result] = (tally[verdict.result] ?? 0) + 1
    const reason = reasons.get(entry.id)
    if (verdict.result === 'wrong' || verdict.result === 'copied') failures.push({ entry, verdict, reason })
    else if (reason !== undefined) outdated.push(entry.id)
  }
  return { corpus, tally, failures, outdated }
}

async function judgeAll(entries: readonly Entry[], baseUrl: string): Promise<Map<Entry, Verdict>> {
  const book = readRules()
  const verdicts = new Map<Entry, Verdict>()
  const waiting = [...entries].reverse()
  const work = async (): Promise<void> => {
    for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
      verdicts.set(entry, judge(entry, await sendEntry(baseUrl, entry), book))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return verdicts
}

/** Sends the request of an entry to a server. */
export async function sendEntry(baseUrl: string, { request }: Entry): Promise<Reply> {
  const url = `${baseUrl}${request.path}${request.query === '' ? '' : `?${request.query}`}`
  const response = await fetch(url, {
    method: request.method,
    redirect: 'manual',
    ...(request.headers ? { headers: { ...request.headers } } : {}),
    ...(request.body === undefined ? {} : { body: request.body }),
  })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    location: response.headers.get('location') ?? undefined,
    text: await response.text(),
  }
}

/** Whether nothing is left to explain. */
export function isConforming({ failures, outdated }: Outcome): boolean {
  return outdated.length === 0 && failures.every(({ reason }) => reason !== undefined)
}

/** One line for each entry that is not right, and for each that is listed but matches nothing. */
export function describeFailures({ failures, outdated }: Outcome): string[] {
  return [
    ...failures.map(({ entry, verdict, reason }) => {
      const { method, path, query } = entry.request
      const request = `${method} ${path}${query === '' ? '' : `?${query}`}`.slice(0, 160)
      const what = verdict.difference ?? 'the recorded defect'
      return `${entry.id} ${verdict.result}: ${request}: ${what}${reason === undefined ? '' : ` (listed: ${reason})`}`
    }),
    ...outdated.map((id) => `${id} is listed as different and is not`),
  ]
}

function knownReasons(): Map<string, string> {
  return new Map(
    readDifferences().flatMap(({ entries = [], why }) => entries.map((id) => [id, why] as const)),
  )
}
