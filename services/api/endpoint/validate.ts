import type { Parameter, RawParameters, RawValue } from './parameter.ts'
import { invalidParameter } from './request-error.ts'
import type { ParsedValue } from './values.ts'
import { Values } from './values.ts'

/** Looks up the items of a named list; an unknown list has none. */
export type NamedLists = (name: string) => Promise<readonly string[]>

/** Most elements of one list parameter, those of named lists included; a page has at most a few thousand rows. */
const MAX_LIST_ITEMS = 50_000
/** Most named lists that one parameter may refer to. */
const MAX_NAMED_LISTS = 50

const INT = /^-?\d+$/
const NAME = /^(?:[a-z1-5.]{1,12}|[a-z1-5.]{12}[a-j1-5.])$/
/** Digits, an exponent, decimals: 12, 1e3, 0.5. */
const DECIMAL = /^-?\d+(?:e\d+)?(?:\.\d+)?$/
/** What an element of a list begins with that stands for the items of a named list; its name follows. */
export const NAMED_LIST = '$list:'
const MIN_ID = -(2n ** 63n)
const MAX_ID = 2n ** 63n - 1n
/** Digits of 2^63; a longer number needs no conversion to be too large. */
const MAX_ID_DIGITS = 19

/**
 * Reads and checks every parameter of an endpoint. Parameters that the endpoint does not know are ignored; those of
 * the path cannot be overridden.
 *
 * @throws RequestError 400 `Invalid value for parameter NAME`, for the first that is wrong.
 */
export async function validateParameters(
  parameters: readonly Parameter[],
  path: Readonly<Record<string, string>>,
  raw: RawParameters,
  lists: NamedLists,
): Promise<Values> {
  const parsed = new Map<string, ParsedValue>()
  for (const parameter of parameters) {
    const text = parameter.in === 'path' ? path[parameter.name] : textOf(raw.get(parameter.name))
    const given = text === undefined || text === '' ? parameter.default : text
    if (given === undefined) continue
    if (given.includes('\0')) throw invalidParameter(parameter.name)
    const value = parameter.list
      ? await parseList(parameter, given, lists)
      : parseOne(parameter, wellFormed(given))
    if (value !== undefined) parsed.set(parameter.name, value)
  }
  const noted = parameters.filter(({ name, isNoted }) => isNoted === true && raw.has(name))
  return new Values(parsed, new Set(noted.map(({ name }) => name)))
}

/** The text that a value means: several values are one comma list, numbers and booleans are spelled out. */
function textOf(value: RawValue | undefined): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'object' ? value.join(',') : String(value)
}

/** Lone surrogates have no UTF-8 form: U+FFFD stands for them. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

async function parseList(parameter: Parameter, text: string, lists: NamedLists): Promise<ParsedValue> {
  const elements = wellFormed(text).split(',')
  if (elements.length > MAX_LIST_ITEMS) throw invalidParameter(parameter.name)
  if (parameter.type === 'id' && parameter.nullable && elements.length === 1 && isNull(text)) return null
  const items = parameter.list === 'named' ? await expandLists(parameter, elements, lists) : elements
  const found = new Set<ParsedValue>()
  for (const item of items) {
    const value = parseOne(parameter, item)
    if (value !== undefined) found.add(value)
  }
  return [...found] as string[]
}

/** Items of a named list that no value of the parameter can equal match nothing; they are not the client's mistake. */
async function expandLists(
  parameter: Parameter,
  elements: readonly string[],
  lists: NamedLists,
): Promise<string[]> {
  const items: string[] = []
  let named = 0
  for (const element of new Set(elements)) {
    if (!element.startsWith(NAMED_LIST)) {
      items.push(element)
      continue
    }
    if (++named > MAX_NAMED_LISTS) throw invalidParameter(parameter.name)
    for (const item of await lists(element.slice(NAMED_LIST.length))) {
      if (hasForm(parameter, item)) items.push(item)
    }
    if (items.length > MAX_LIST_ITEMS) throw invalidParameter(parameter.name)
  }
  return items
}

function hasForm({ type }: Parameter, item: string): boolean {
  if (type === 'name') return NAME.test(item)
  return type === 'id' || type === 'int' ? INT.test(item) && item.length < MAX_ID_DIGITS : true
}

function isNull(text: string): boolean {
  return text.toLowerCase() === 'null'
}

/** Undefined = counts as absent. */
function parseOne(parameter: Parameter, text: string): ParsedValue | undefined {
  switch (parameter.type) {
    case 'int':
      return parseInt53(parameter, text)
    case 'id':
      return parseId(parameter, text)
    case 'bool':
      return parseBool(parameter, text)
    case 'name':
      if (!NAME.test(text)) throw invalidParameter(parameter.name)
      return text
    case 'string':
      return parseText(parameter, text)
    case 'decimal':
      return parseDecimal(parameter, text)
  }
}

function parseInt53(parameter: Parameter, text: string): number {
  const value = INT.test(text) ? Number(text) : NaN
  const { minimum = -Infinity, maximum = Infinity } = parameter
  if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
    throw invalidParameter(parameter.name)
  }
  return value
}

function parseId(parameter: Parameter, text: string): bigint {
  if (!INT.test(text) || text.replace(/^-?0*/, '').length > MAX_ID_DIGITS) {
    throw invalidParameter(parameter.name)
  }
  const value = BigInt(text)
  if (value < MIN_ID || value > MAX_ID) throw invalidParameter(parameter.name)
  return value
}

function parseBool(parameter: Parameter, text: string): boolean | undefined {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  if (text === 'empty') return undefined
  throw invalidParameter(parameter.name)
}

/** Stays text: what it is compared with is exact. */
function parseDecimal(parameter: Parameter, text: string): string {
  const { minimum = -Infinity } = parameter
  if (!DECIMAL.test(text) || Number.parseFloat(text) < minimum) throw invalidParameter(parameter.name)
  return text
}

function parseText(parameter: Parameter, text: string): string | undefined {
  const { minimum = 0, maximum = Infinity, values } = parameter
  if (text.length < minimum || text.length > maximum) throw invalidParameter(parameter.name)
  if (!values || values.includes(text)) return text
  if (parameter.lenient) return parameter.default
  throw invalidParameter(parameter.name)
}
