import type { SentRequest } from '../../answers/index.ts'
import type { CrawledAnswer } from '../crawl.ts'
import { recordsOf } from '../crawl.ts'
import type { DocumentedTarget } from '../targets.ts'
import type { Choices } from './choices.ts'
import type { Given } from './encodings.ts'
import { formText, jsonValue, wellFormed } from './encodings.ts'
import type { KnownValues, NamedForm } from './values.ts'
import { collectValues, hostileTexts, namedLike, textFor } from './values.ts'

/** A request before its parameters are encoded as query, form or JSON. */
export interface Question {
  readonly target: DocumentedTarget
  /** Path with its parameters filled in. */
  readonly path: string
  readonly parameters: readonly Given[]
}

type Row = Readonly<Record<string, unknown>>

/** Data from which random requests are generated. */
export interface Material {
  readonly targets: readonly DocumentedTarget[]
  readonly known: KnownValues
  /** Records that the crawl has found, by the first path segment of the list that contained the record. */
  readonly rows: ReadonlyMap<string, readonly Row[]>
}

/** Share of hostile values: texts that no parameter accepts. */
const HOSTILE = 0.04

/** Collects values and records from the answers of a crawl. */
export function materialOf(
  targets: readonly DocumentedTarget[],
  answers: readonly CrawledAnswer[],
): Material {
  const rows = new Map<string, Row[]>()
  for (const { path, status, body } of answers) {
    if (status !== 200) continue
    const own = rows.get(mountOf(path)) ?? []
    rows.set(mountOf(path), own)
    own.push(...recordsOf(body).filter((row) => Object.keys(row).length > 3))
  }
  return { targets, known: collectValues(answers), rows }
}

function mountOf(path: string): string {
  return path.split('/', 2)[1]!
}

/**
 * Draws a random request to an endpoint. Its values often come from one record, so that several filters together match
 * it.
 */
export function drawQuestion(target: DocumentedTarget, { known, rows }: Material, random: Choices): Question {
  const candidates = rows.get(mountOf(target.documentPath)) ?? []
  const row = candidates.length > 0 && random.chance(0.85) ? random.pick(candidates) : {}
  const text = (parameter: NamedForm): string => {
    const own = random.chance(0.8) ? valueIn(row, parameter) : undefined
    return own ?? textFor(parameter, known, random, HOSTILE)
  }
  const forms = Object.entries(target.endpoint.parameters).map(([name, form]) => ({ ...form, name }))
  const path = target.endpoint.path.replaceAll(/:(\w+)/g, (_match, name: string) =>
    encodeURIComponent(wellFormed(text(forms.find((form) => form.name === name)!)) || 'x'),
  )
  const own = forms.filter((form) => form.in !== 'path')
  return { target, path, parameters: drawParameters(target, { own, row, text }, random) }
}

function drawParameters(
  target: DocumentedTarget,
  parts: { own: readonly NamedForm[]; row: Row; text: (parameter: NamedForm) => string },
  random: Choices,
): Given[] {
  const { own, row, text } = parts
  const given = new Map<string, string>()
  const limit = own.find(({ name }) => name === 'limit')
  // Mostly small pages: more requests fit into the same time.
  if (limit && random.chance(0.8)) given.set('limit', String(1 + random.below(8)))
  // Endpoints for statistics and prices return nothing without a token symbol.
  const symbol = own.find(({ name }) => name === 'symbol')
  if (symbol && random.chance(0.5)) given.set('symbol', text(symbol))
  for (let left = random.below(5); left > 0 && own.length > 0; left--) {
    const parameter = random.pick(own)
    given.set(parameter.name, text(parameter))
  }
  if (target.hasAttributes && random.chance(0.3)) {
    const [name, value] = drawAttribute(row, random)
    given.set(name, value)
  }
  return [...given].filter(([, value]) => value !== '' || random.chance(0.5))
}

/** A value of a record that suits a parameter; undefined if the record has none. */
function valueIn(row: Row, { name }: NamedForm): string | undefined {
  for (const key of [name, ...(namedLike[name] ?? [])]) {
    const value = row[key]
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return String(value)
  }
  return undefined
}

const families = ['data', 'template_data', 'immutable_data', 'mutable_data']

/** Draws an attribute filter from a record; untyped in most cases. */
function drawAttribute(row: Row, random: Choices): Given {
  const found = families
    .flatMap((family) => (isRow(row[family]) ? Object.entries(row[family]) : []))
    .filter(([, value]) => typeof value !== 'object')
  const family = random.pick(families)
  if (found.length === 0 || random.chance(HOSTILE)) return [`${family}.name`, random.pick(hostileTexts)]
  const [key, value] = random.pick(found)
  const typing = random.chance(0.6) ? '' : random.pick([':text', ':number', ':bool'])
  return [`${family}${typing}.${key}`, String(value)]
}

/**
 * Whether a parameter is an attribute filter without type suffix. The JSON type of its value matters: in a JSON body, a
 * number matches numbers, but the text of the number does not. Therefore the encodings of a request with such a filter
 * are not compared.
 */
function isUntypedAttribute(name: string): boolean {
  return families.some((family) => name.startsWith(`${family}.`))
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Where the parameters of a request are sent: in the URL, as JSON or as a form. */
export type Encoding = 'address' | 'JSON' | 'form'

/** The encodings that an endpoint accepts; the URL first. */
export function encodingsOf({ target, parameters }: Question): readonly Encoding[] {
  return target.takesBody && parameters.length > 0 ? ['address', 'JSON', 'form'] : ['address']
}

/** A request without the base URL of a server. */
export interface EncodedQuestion extends Omit<SentRequest, 'url'> {
  /** Path and query of the URL. */
  readonly target: string
}

/** Puts the parameters of a request into the URL, a JSON body or a form. */
export function encodeQuestion(
  { target: { endpoint }, path, parameters }: Question,
  encoding: Encoding,
  random: Choices,
): EncodedQuestion {
  if (encoding === 'address') {
    const query = parameters.length === 0 ? '' : `?${formText(parameters)}`
    return { method: 'GET', target: path + query }
  }
  const isForm = encoding === 'form'
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  const isList = (name: string): boolean => endpoint.parameters[name]?.list !== undefined
  const members = parameters.map(([name, text]) => {
    const value = isUntypedAttribute(name) ? text : jsonValue(text, isList(name), random)
    return [name, value] as const
  })
  const body = isForm ? formText(parameters) : JSON.stringify(Object.fromEntries(members))
  return { method: 'POST', target: path, headers: { 'content-type': type }, body }
}
