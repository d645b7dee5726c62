import type { OpenApiDocument } from './openapi-document.ts'
import { parametersOf } from './openapi-document.ts'

type Row = Readonly<Record<string, unknown>>

/** An answer met on the way. */
export interface CrawledAnswer {
  /** As in the document, for example `/assets/v1/assets/{asset_id}`. */
  readonly path: string
  /** What was asked for. */
  readonly url: string
  readonly status: number
  readonly body: unknown
}

/** Largest page that is asked for. */
const MAX_PAGE = 100
/** Records of each path with parameters. */
const SAMPLES = 12

/**
 * Asks for everything that a document describes: lists in every order, their counts, and the paths with parameters for
 * what the records of the lists name.
 */
export async function crawl(baseUrl: string, document: OpenApiDocument): Promise<CrawledAnswer[]> {
  const answers: CrawledAnswer[] = []
  const ask = async (path: string, url: string): Promise<unknown> => {
    const response = await fetch(baseUrl + url)
    const body: unknown = await response.json()
    answers.push({ path, url, status: response.status, body })
    return body
  }
  const paths = Object.keys(document.paths)
  const known: Row[] = []
  for (const path of paths.filter((each) => !each.includes('{'))) {
    for (const query of listQueries(document, path)) collectRows(await ask(path, path + query), known)
  }
  for (const path of paths.filter((each) => each.includes('{'))) {
    const hasSymbol = parametersOf(document, document.paths[path]!.get).some(({ name }) => name === 'symbol')
    for (const url of urlsOf(path, known)) await ask(path, hasSymbol ? `${url}?symbol=WAX` : url)
    for (const missing of ['999999999', 'nosuchname']) {
      await ask(path, path.replaceAll(/\{\w+\}/g, missing))
    }
  }
  return answers
}

function listQueries(document: OpenApiDocument, path: string): string[] {
  const parameters = parametersOf(document, document.paths[path]!.get)
  const find = (name: string) => parameters.find((parameter) => parameter.name === name)?.schema
  const limit = find('limit')
  const symbol = find('symbol') ? ['?symbol=WAX'] : []
  if (!limit) return ['', ...symbol]
  const page = `limit=${Math.min(limit.maximum ?? MAX_PAGE, MAX_PAGE)}`
  const sorts = find('sort')?.enum ?? []
  return [
    `?${page}`,
    ...sorts.flatMap((sort) => ['asc', 'desc'].map((order) => `?${page}&sort=${sort}&order=${order}`)),
    ...(find('count') ? ['?count=true'] : []),
    ...symbol,
  ]
}

/** Members of every object in an answer, with those of the objects directly inside it. */
function collectRows(value: unknown, rows: Row[]): void {
  if (Array.isArray(value)) for (const each of value) collectRows(each, rows)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const nested = Object.values(value as Row).filter(
    (each): each is object => typeof each === 'object' && each !== null,
  )
  rows.push(Object.assign({}, ...nested, value) as Row)
  for (const each of nested) collectRows(each, rows)
}

/** The addresses that a path has for known rows, spread over them. */
function urlsOf(path: string, rows: readonly Row[]): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const urls = new Set<string>()
  for (const row of rows) {
    const values = names.map((name) => valueFor(name, row))
    if (values.every((value) => value !== undefined)) {
      let at = 0
      urls.add(path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(values[at++]!)))
    }
  }
  const all = [...urls]
  const step = Math.max(1, Math.floor(all.length / SAMPLES))
  return all.filter((_url, index) => index % step === 0)
}

function valueFor(name: string, row: Row): string | undefined {
  const others: Readonly<Record<string, string>> = { account: 'owner', name: 'marketplace_name' }
  const value = row[name] ?? row[others[name] ?? name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
