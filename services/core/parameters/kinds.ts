import { NAMED_LIST, readList, tooLong } from './lists.ts'
import type { Elements } from './lists.ts'
import { MAX_GIVEN_ITEMS } from '../limits/index.ts'
import { Complaint } from '../endpoint/index.ts'
import type { Form, Parameter, Schema } from '../endpoint/index.ts'

const INT = /^-?\d+$/
const NAME = '(?:[a-z1-5.]{1,12}|[a-z1-5.]{12}[a-j1-5.])'
const namePattern = new RegExp(`^${NAME}$`)
/** A decimal number with an exponent or a fraction: 12, 1e3, 0.5. */
const DECIMAL = /^-?\d+(?:e\d+|\.\d+)?$/
/** Maximum number of decimals in the text of a number: more than any token has. */
const MAX_DECIMALS = 40
const MIN_ID = -(2n ** 63n)
const MAX_ID = 2n ** 63n - 1n
/** Number of digits of 2^63. A number with more digits is refused without conversion to bigint. */
const MAX_ID_DIGITS = 19

/** Default maximum length of a text: longer than any key, hash or name of the chain. */
const DEFAULT_LENGTH = 128
/** Maximum length of a number: the longest valid number has 20 digits, and clients may prepend zeros. */
const NUMBER_LENGTH = 64

interface Range {
  readonly minimum?: number
  readonly maximum?: number
}

interface Presence<T> {
  /** Value of an absent parameter. */
  readonly default?: T
  /** Whether an absent parameter is refused. */
  readonly required?: boolean
  /** Whether an invalid value counts as absent, with a warning to the caller of `read`. */
  readonly lenient?: boolean
}

/** Type of a single value: never undefined if the parameter has a default or is required. */
type Scalar<T, O> = O extends { readonly default: unknown } | { readonly required: true } ? T : T | undefined

/** Formats a number so that it matches {@link DECIMAL}, also a number that JavaScript prints as `5e-7` or `1.5e+21`. */
function numberText(value: number): string {
  const text = String(value)
  const [digits, exponent] = text.split('e')
  if (!digits || !exponent) return text
  const [whole = '', decimals = ''] = digits.split('.')
  const places = decimals.length - Number(exponent)
  return places > 0 ? value.toFixed(Math.min(places, MAX_DECIMALS)) : `${whole}${decimals}e${-places}`
}

/**
 * Converts a given value to text.
 * @throws Complaint for anything but text, number or boolean.
 */
export function textOf(given: unknown, complaint: string): string | undefined {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return given
  if (typeof given === 'number') return numberText(given)
  if (typeof given === 'boolean') return String(given)
  throw new Complaint(complaint)
}

/**
 * Converts a given value to text that PostgreSQL can store.
 * @throws Complaint if the value is no text, number or boolean, or if the text contains U+0000.
 */
function storableText(given: unknown, complaint: string): string | undefined {
  const text = textOf(given, complaint)
  if (text?.includes('\0')) throw new Complaint(complaint)
  // A lone surrogate has no UTF-8 form; it becomes U+FFFD.
  return text?.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/**
 * Whether a parameter is free text. Names and numbers are not free text: they have a fixed format, and clients rely on
 * the wording of their errors.
 */
function isText({ type }: Form): boolean {
  return type === 'string'
}

/** Maximum length of a text, or of each text in a list. Names need no limit here: their pattern limits the length. */
function greatestLength(form: Form): number {
  return isText(form) ? (form.maximum ?? DEFAULT_LENGTH) : NUMBER_LENGTH
}

/** Description and parser of a single value. */
interface Reading<T> {
  readonly form: Form
  readonly schema: Schema
  /**
   * Parses the text of a single parameter value.
   * @throws Complaint for an invalid text.
   */
  readonly read: (text: string) => T | undefined
  /** Error message for a value of a wrong JSON type. */
  readonly complaint?: string
}

function scalar<T extends string | number | bigint | boolean>(
  description: string,
  { form, schema, read, complaint = 'cannot be used' }: Reading<T>,
  { default: standard, required = false, lenient = false }: Presence<T> = {},
): Parameter<T | undefined> {
  const most = greatestLength(form)
  const isDocumented = standard !== undefined && typeof standard !== 'bigint'
  return {
    description,
    ...form,
    ...(isDocumented ? { default: standard } : {}),
    ...(required ? { isRequired: true } : {}),
    schema: { ...schema, ...(isDocumented ? { default: standard } : {}) },
    read(given, _lists, warn) {
      try {
        const text = storableText(given, complaint)
        if (text === undefined || text === '') {
          if (required) throw new Complaint('is required')
          return standard
        }
        if (text.length > most) throw isText(form) ? tooLong(most, complaint) : new Complaint(complaint)
        return read(text)
      } catch (error) {
        if (!lenient || !(error instanceof Complaint)) throw error
        warn?.(error)
        return standard
      }
    },
  }
}

function listOf<T>(
  description: string,
  form: Form,
  element: Schema,
  own: Omit<Elements<T>, 'checkLength'>,
): Parameter<readonly T[] | undefined> {
  const most = greatestLength(form)
  const elements: Elements<T> = {
    ...own,
    checkLength(text) {
      if (text.length > most) throw tooLong(most)
    },
  }
  return {
    description,
    ...form,
    list: elements.list,
    schema: { type: 'array', items: element, maxItems: MAX_GIVEN_ITEMS },
    read(given, lists) {
      const text = storableText(given, 'must be a list')
      return text === undefined || text === '' ? undefined : readList(text, elements, lists)
    },
  }
}

/** Makes a parameter a path segment, which is always present. */
export function inPath<T>(parameter: Parameter<T>): Parameter<Exclude<T, undefined>> {
  return { ...parameter, in: 'path' } as Parameter<Exclude<T, undefined>>
}

/** Creates an object with one parameter under the given name; the type of the object contains the name. */
export function named<const K extends string, P>(key: K, parameter: P): { readonly [N in K]: P } {
  return { [key]: parameter } as { readonly [N in K]: P }
}

/** A whole number that a double represents exactly. */
export function int<const O extends Range & Presence<number>>(description: string, options?: O) {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = options ?? {}
  const complaint = `must be a whole number from ${minimum} to ${maximum}`
  const read = (text: string): number => {
    // Adding 0 turns -0 into 0.
    const value = INT.test(text) ? Number(text) + 0 : NaN
    if (value >= minimum && value <= maximum) return value
    throw new Complaint(complaint)
  }
  const form = { type: 'int', ...rangeOf(options) }
  const found = scalar(
    description,
    { form, schema: { type: 'integer', minimum, maximum }, read, complaint },
    options,
  )
  return found as Parameter<Scalar<number, O>>
}

function rangeOf({ minimum, maximum }: Range = {}): Range {
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) }
}

const ID_COMPLAINT = 'must be a whole number of 64 bits'

function readId(text: string, complaint = ID_COMPLAINT): bigint {
  const isShort = INT.test(text) && text.replace(/^-?0*/, '').length <= MAX_ID_DIGITS
  const value = isShort ? BigInt(text) : undefined
  if (value !== undefined && value >= MIN_ID && value <= MAX_ID) return value
  throw new Complaint(complaint)
}

const idForm = { type: 'id' }

function patternOf(...forms: readonly string[]): Schema {
  return { type: 'string', pattern: forms.length === 1 ? `^${forms[0]!}$` : `^(?:${forms.join('|')})$` }
}

function listPattern(list: 'comma' | 'named', ...forms: readonly string[]): Schema {
  return patternOf(...forms, ...(list === 'named' ? [`\\${NAMED_LIST}.+`] : []))
}

const ID = '-?[0-9]+'

/** A 64-bit integer. */
export function id(description: string): Parameter<bigint | undefined> {
  return scalar(description, { form: idForm, schema: patternOf(ID), read: (text) => readId(text) })
}

const fitsId = (item: string): boolean => INT.test(item) && item.length < MAX_ID_DIGITS

/**
 * A list of 64-bit integers.
 * @param complaint message for an invalid element, for example listing the allowed kinds.
 */
export function ids(
  description: string,
  list: 'comma' | 'named' = 'named',
  complaint = ID_COMPLAINT,
): Parameter<readonly bigint[] | undefined> {
  const read = (text: string): bigint => readId(text, complaint)
  return listOf(description, idForm, listPattern(list, ID), { list, read, fits: fitsId })
}

/** A list of 64-bit integers, or the single value `null`. */
export function idsOrNull(description: string): Parameter<readonly bigint[] | null | undefined> {
  const own = ids(description)
  return {
    ...own,
    schema: { ...own.schema, items: listPattern('named', ID, 'null') },
    read: (given, lists) =>
      typeof given === 'string' && given.toLowerCase() === 'null' ? null : own.read(given, lists),
  }
}

/** A boolean: `true` or `1`, `false` or `0`. Empty text counts as absent, even with a default. */
export function flag(description: string, standard?: boolean): Parameter<boolean | undefined> {
  const read = (text: string): boolean | undefined => {
    if (text === 'true' || text === '1') return true
    if (text === 'false' || text === '0') return false
    if (text === 'empty') return undefined
    throw new Complaint('must be true or false')
  }
  const options = standard === undefined ? {} : { default: standard }
  return scalar(description, { form: { type: 'bool' }, schema: { type: 'boolean' }, read }, options)
}

function readName(text: string): string {
  if (namePattern.test(text)) return text
  throw new Complaint('must be a name')
}

/** A text with the alphabet and maximum length of account names. */
export function name(description: string): Parameter<string | undefined> {
  return scalar(description, { form: { type: 'name' }, schema: patternOf(NAME), read: readName })
}

/** A list of account names. */
export function names(
  description: string,
  list: 'comma' | 'named' = 'named',
): Parameter<readonly string[] | undefined> {
  const fits = (item: string): boolean => namePattern.test(item)
  return listOf(description, { type: 'name' }, listPattern(list, NAME), { list, read: readName, fits })
}

function textSchema({ minimum, maximum = DEFAULT_LENGTH }: Range): Schema {
  return {
    type: 'string',
    ...(minimum === undefined ? {} : { minLength: minimum }),
    maxLength: maximum,
  }
}

function checkedText({ minimum = 0 }: Range, complaint: string) {
  return (text: string): string => {
    if (text.length >= minimum) return text
    throw new Complaint(complaint)
  }
}

/** A text; `minimum` and `maximum` count UTF-16 code units. */
export function text<const O extends Range & Presence<string>>(description: string, options?: O) {
  const range = rangeOf(options)
  const complaint = `must be text of ${range.minimum ?? 1} to ${range.maximum ?? DEFAULT_LENGTH} characters`
  const form = { type: 'string', ...range }
  const read = checkedText(range, complaint)
  const found = scalar(description, { form, schema: textSchema(range), read, complaint }, options)
  return found as Parameter<Scalar<string, O>>
}

/** A list of non-empty texts. `named`: elements may refer to named lists. */
export function texts(
  description: string,
  list: 'comma' | 'named' = 'comma',
  range: Range = { minimum: 1 },
): Parameter<readonly string[] | undefined> {
  const read = checkedText(range, 'must be texts')
  return listOf(description, { type: 'string', ...range }, textSchema(range), { list, read })
}

function wordReader<W extends string>(words: readonly W[]) {
  return (text: string): W => {
    const word = words.find((each) => each === text)
    if (word !== undefined) return word
    throw new Complaint(`must be one of ${words.join(', ')}`)
  }
}

/** Declares a parameter whose value is one of `words`. */
export function choice<const W extends string, const O extends Presence<NoInfer<W>>>(
  description: string,
  words: readonly W[],
  options?: O,
) {
  const form = { type: 'string', values: words }
  const complaint = `must be one of ${words.join(', ')}`
  const read = wordReader(words)
  const found = scalar<W>(
    description,
    { form, schema: { type: 'string', enum: words }, read, complaint },
    options,
  )
  return found as Parameter<Scalar<W, O>>
}

/** A list of words from a fixed set. */
export function choices<const W extends string>(
  description: string,
  words: readonly W[],
): Parameter<readonly W[] | undefined> {
  const schema = { type: 'string', enum: words }
  return listOf(description, { type: 'string', values: words }, schema, {
    list: 'comma',
    read: wordReader(words),
  })
}

/** A decimal number that stays text, so that comparisons are exact. */
export function decimal(description: string, minimum: number): Parameter<string | undefined> {
  const read = (text: string): string => {
    if (DECIMAL.test(text) && Number.parseFloat(text) >= minimum) return text
    throw new Complaint(`must be a number from ${minimum}`)
  }
  return scalar(description, {
    form: { type: 'decimal', minimum },
    schema: { type: 'number', minimum },
    read,
  })
}
