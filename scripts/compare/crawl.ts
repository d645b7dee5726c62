import type { OpenApiDocument } from './document.ts'
import { parametersOf } from './document.ts'

type Row = Readonly<Record<string, unknown>>

/** A request of the crawl and its answer. */
export interface CrawledAnswer {
  /** Path in the OpenAPI document, for example `/assets/v1/assets/{asset_id}`. */
  readonly path: string
  /** Path and query of the request. */
  readonly url: string
  readonly status: number
  readonly body: unknown
}

/** Requests a URL and parses the JSON answer. */
export type GetJson = (url: string) => Promise<{ readonly status: number; readonly body: unknown }>

/** Requests no compression, which would take an eighth of the processor time of a crawl (measured 2026-11-30). */
const getJson: GetJson = async (url) => {
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  return { status: response.status, body: await response.json() }
}

/** Limit of records that the crawl requests from a list. */
const MAX_PAGE = 40
/** Sampling rate for paths with parameters: about this many URLs are taken from each list. */
const SAMPLES = 2

/**
 * Requests everything that an OpenAPI document describes: lists in every order, their counts, and paths with
 * parameters, filled with values of the listed records.
 */
export async function crawl(
  baseUrl: string,
  document: OpenApiDocument,
  get: GetJson = getJson,
): Promise<CrawledAnswer[]> {
  const answers: CrawledAnswer[] = []
  const ask = async (path: string, url: string): Promise<unknown> => {
    const { status, body } = await get(baseUrl + url)
    answers.push({ path, url, status, body })
    return body
  }
  const paths = Object.keys(document.paths).filter((path) => answersJson(document, path))
  /** Distinct records of each list, by path of the list. */
  const known = new Map<string, Row[]>()
  for (const path of paths.filter((each) => !each.includes('{'))) {
    const rows: Row[] = []
    // A list is requested in every sort order, and the answers share most records: each record is stored once.
    const isKnown = knownObjects()
    for (const query of listQueries(document, path, known))
      rows.push(...recordsOf(await ask(path, path + query), isKnown))
    known.set(path, rows)
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

function answersJson(document: OpenApiDocument, path: string): boolean {
  return JSON.stringify(document.paths[path]!.get.responses['200']).includes('application/json')
}

function listQueries(
  document: OpenApiDocument,
  path: string,
  known: ReadonlyMap<string, readonly Row[]>,
): string[] {
  const parameters = parametersOf(document, document.paths[path]!.get)
  const find = (name: string) => parameters.find((parameter) => parameter.name === name)?.schema
  const limit = find('limit')
  const whitelist = find('collection_whitelist') ? `&collection_whitelist=${collectionsOf(known)}` : ''
  const symbol = find('symbol') ? [`?symbol=WAX${whitelist}`] : []
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

/** Names of all collections seen so far, joined by commas. */
function collectionsOf(known: ReadonlyMap<string, readonly Row[]>): string {
  const names = [...known.values()].flat().map((row) => valueFor('collection_name', row))
  return [...new Set(names)].filter((name) => name !== undefined).join(',')
}

/** Creates a function that returns whether it has been called with an equal object before. */
function knownObjects(): (value: object) => boolean {
  const texts = new Set<string>()
  return (value) => {
    const { size } = texts
    return texts.add(JSON.stringify(value)).size === size
  }
}

/**
 * All objects in an answer. Each returned object also contains the members of its directly nested objects. An object
 * for which `isLeftOut` returns true is left out, as are the objects nested in that object.
 */
export function recordsOf(body: unknown, isLeftOut: (value: object) => boolean = () => false): Row[] {
  const rows: Row[] = []
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) collect(each)
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isLeftOut(value)) return
    const nested = Object.values(value as Row).filter(
      (each): each is object => typeof each === 'object' && each !== null,
    )
    rows.push(Object.assign({}, ...nested, value) as Row)
    for (const each of nested) collect(each)
  }
  collect(body)
  return rows
}

/** URLs of a path with parameters, filled with values of records from the same namespace. */
function urlsOf(path: string, known: ReadonlyMap<string, readonly Row[]>): Set<string> {
  const mount = path.slice(0, path.indexOf('/', 1))
  const urls = new Set<string>()
  for (const [source, rows] of known) {
    if (!source.startsWith(`${mount}/`)) continue
    const found = rows.map((row) => urlFor(path, row)).filter((url) => url !== undefined)
    const distinct = [...new Set(found)]
    const step = Math.max(1, Math.floor(distinct.length / SAMPLES))
    for (let at = 0; at < distinct.length; at += step) urls.add(distinct[at]!)
  }
  return urls
}

function urlFor(path: string, row: Row): string | undefined {
  const names = namesIn(path)
  const values = names.map((name) => valueFor(name, row))
  if (values.includes(undefined)) return undefined
  return names.reduce((url, name, at) => url.replace(`{${name}}`, encodeURIComponent(values[at]!)), path)
}

const namesByPath = new Map<string, readonly string[]>()

/** Names of the parameters in a path. */
function namesIn(path: string): readonly string[] {
  let names = namesByPath.get(path)
  if (names === undefined) {
    names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    namesByPath.set(path, names)
  }
  return names
}

/** Members whose values suit a parameter with another name. */
const otherNames: Readonly<Record<string, string>> = { account: 'owner', name: 'marketplace_name' }

function valueFor(name: string, row: Row): string | undefined {
  const value = row[name] ?? row[otherNames[name] ?? name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
