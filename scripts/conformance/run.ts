import { curlCommand, describeGroup, groupDifferences } from '../answers/index.ts'
import type { FoundDifference } from '../answers/index.ts'
import { judge } from './comparison/index.ts'
import type { Entry, Reply, Verdict } from './comparison/index.ts'
import type { CorpusName } from './corpus.ts'
import { readCorpus, readDifferences, readRules } from './corpus.ts'

/** A recorded request that was answered wrongly. `reason` comes from `differences.json`. */
export type Failure = FoundDifference

/** Result of comparing all recorded requests of a family. */
export interface Outcome {
  readonly corpus: CorpusName
  /** Number of recorded requests by result. */
  readonly tally: Readonly<Partial<Record<Verdict['result'], number>>>
  readonly failures: readonly Failure[]
  /** Recorded requests that `differences.json` lists although their answers no longer differ. */
  readonly outdated: readonly string[]
}

/** Limit of concurrent requests. */
const CONCURRENCY = 4

/** Sends all recorded requests of a family to a server and compares the answers with the recorded answers. */
export async function runCorpus(
  corpus: CorpusName,
  baseUrl: string,
  onReply: (entry: Entry, reply: Reply) => void = () => undefined,
): Promise<Outcome> {
  const entries = readCorpus(corpus)
  const verdicts = await judgeAll(entries, baseUrl, onReply)
  const tally: Partial<Record<Verdict['result'], number>> = {}
  const failures: Failure[] = []
  const outdated: string[] = []
  const reasons = knownReasons()
  for (const entry of entries) {
    const verdict = verdicts.get(entry)!
    tally[verdict.result] = (tally[verdict.result] ?? 0) + 1
    const reason = reasons.get(entry.id)
    if (verdict.result === 'wrong' || verdict.result === 'copied')
      failures.push(failureOf(entry, verdict, { baseUrl, reason }))
    else if (reason !== undefined) outdated.push(entry.id)
  }
  return { corpus, tally, failures, outdated }
}

/** Converts a difference to the format of `compare`: A is this server, B the recorded answer. */
function failureOf(
  { id, route, request }: Entry,
  { difference }: Verdict,
  { baseUrl, reason }: { readonly baseUrl: string; readonly reason: string | undefined },
): Failure {
  const text = difference ?? 'the recorded defect'
  const [, place = '', rest = text] = /^([\w.-]+): ([^]*)$/.exec(text) ?? []
  const [ours = '', recorded = ''] = rest.split(' instead of ')
  const url = `${baseUrl}${request.path}${request.query === '' ? '' : `?${request.query}`}`
  return {
    endpoint: `${request.method} ${route}`,
    path: place.replaceAll(/\.\d+(?=\.|$)/g, '[]'),
    kind: kindOf(rest, ours, recorded),
    shown: [ours, recorded],
    command: `${curlCommand({ ...request, url })} # ${id}`,
    reason,
  }
}

function kindOf(text: string, ours: string, recorded: string): string {
  if (recorded === '') return text.replace(/: .*|[{"[].*/s, '').trim()
  if (ours === 'nothing') return 'only in B'
  if (recorded === 'nothing') return 'only in A'
  return /^status |elements$/.exec(ours)?.[0].trim() ?? 'value'
}

async function judgeAll(
  entries: readonly Entry[],
  baseUrl: string,
  onReply: (entry: Entry, reply: Reply) => void,
): Promise<Map<Entry, Verdict>> {
  const book = readRules()
  const verdicts = new Map<Entry, Verdict>()
  const waiting = [...entries].reverse()
  const work = async (): Promise<void> => {
    for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
      const reply = await sendEntry(baseUrl, entry)
      onReply(entry, reply)
      verdicts.set(entry, judge(entry, reply, book))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return verdicts
}

export async function sendEntry(baseUrl: string, { request }: Entry): Promise<Reply> {
  const url = `${baseUrl}${request.path}${request.query === '' ? '' : `?${request.query}`}`
  const response = await fetch(url, {
    method: request.method,
    redirect: 'manual',
    headers: { 'accept-encoding': 'identity', ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    location: response.headers.get('location') ?? undefined,
    text: await response.text(),
  }
}

/** Whether `differences.json` explains all differences, and lists no answer that no longer differs. */
export function isConforming({ failures, outdated }: Outcome): boolean {
  return outdated.length === 0 && failures.every(({ reason }) => reason !== undefined)
}

/** Report: differences by endpoint, path and kind, and one line for each outdated entry of `differences.json`. */
export function describeFailures({ failures, outdated }: Outcome): string[] {
  return [
    ...groupDifferences(failures).flatMap(describeGroup),
    ...outdated.map((id) => `${id} is listed in differences.json, but its answer does not differ`),
  ]
}

function knownReasons(): Map<string, string> {
  return new Map(
    readDifferences().flatMap(({ entries = [], why }) => entries.map((id) => [id, why] as const)),
  )
}
