import { z } from 'zod'
import { describeError, RetryableError } from '../../core/errors/index.ts'
import { readLimitedText } from '../../core/http/client/index.ts'
import type { ListSource } from './source.ts'

/** Items by list name, each item once, in the order of the list source. */
export type NamedItems = ReadonlyMap<string, readonly string[]>

/** Limits of the reply of a list source. */
export interface ListLimits {
  /** Maximum time from the request to the last byte of the reply, ms. */
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly maxLists: number
  /** Maximum number of items in one list. Bounds the size of a query that names the list. */
  readonly maxItemsOfList: number
  /** Maximum number of items in all lists together; repeated items count. */
  readonly maxItems: number
}

/** Default limits of the reply of a list source, wide enough for a list of all accounts of a large game. */
export const defaultListLimits: ListLimits = {
  timeoutMs: 60_000,
  maxBytes: 16 * 2 ** 20,
  maxLists: 10_000,
  maxItemsOfList: 50_000,
  maxItems: 500_000,
}

const label = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc}]+$/u)
const answerSchema = z.object({
  lists: z.array(z.object({ listName: label, items: z.array(z.object({ itemName: label })) })),
})

/**
 * Requests the lists of a source. Redirects are refused, because the API key must not reach another address. @throws
 * RetryableError `LIST_SOURCE_FAILED` if the source does not reply in time, or the reply contains no valid lists.
 */
export async function readLists(
  source: ListSource,
  limits: ListLimits,
  signal: AbortSignal,
): Promise<NamedItems> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.timeoutMs)])
  try {
    const response = await fetch(withoutUser(source.url), {
      signal: limit,
      redirect: 'error',
      headers: requestHeaders(source),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`status ${response.status}`)
    }
    return parseLists(await readLimitedText(response, limits.maxBytes), limits)
  } catch (cause) {
    const reason = limit.aborted && !signal.aborted ? `no answer in ${limits.timeoutMs} ms` : reasonOf(cause)
    throw new RetryableError('LIST_SOURCE_FAILED', `named lists of ${source.address}: ${reason}`)
  }
}

function requestHeaders(source: ListSource): Record<string, string> {
  const { username, password } = new URL(source.url)
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return {
    accept: 'application/json',
    ...(source.apiKey === undefined ? {} : { 'x-api-key': source.apiKey }),
    ...(username === '' ? {} : { authorization: `Basic ${login.toString('base64')}` }),
  }
}

/** Removes user and password from the URL: `fetch` refuses URLs with credentials. */
function withoutUser(text: string): URL {
  const url = new URL(text)
  url.username = ''
  url.password = ''
  return url
}

function reasonOf(cause: unknown): string {
  if (cause instanceof z.ZodError) {
    const issue = cause.issues[0]
    return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'the answer does not contain lists'}`
  }
  return describeError(cause)
}

function parseLists(text: string, limits: ListLimits): NamedItems {
  const { lists } = answerSchema.parse(parseJson(text))
  if (lists.length > limits.maxLists) throw new Error(`more than ${limits.maxLists} lists`)
  const count = lists.reduce((sum, { items }) => sum + items.length, 0)
  if (count > limits.maxItems) throw new Error(`more than ${limits.maxItems} items`)
  const found = new Map<string, Set<string>>()
  for (const { listName, items } of lists) {
    const list = found.get(listName) ?? new Set()
    for (const { itemName } of items) list.add(itemName)
    found.set(listName, list)
  }
  for (const [name, items] of found) {
    if (items.size > limits.maxItemsOfList) {
      throw new Error(`list ${name} has more than ${limits.maxItemsOfList} items`)
    }
  }
  return new Map([...found].map(([name, items]) => [name, [...items]]))
}

/** Replaces the parser's error, which would quote a part of the reply. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the answer is not JSON')
  }
}
