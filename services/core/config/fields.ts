import { isIP } from 'node:net'
import { z } from 'zod'
import { nearestOf } from './nearest.ts'

/*
 * Every check below carries one text, `allowed`: the documentation prints it, and so does a problem. That is why
 * each builder hands it to zod as the error of every check it adds.
 */

/** Text of `min` to `max` characters, none of them a control character. */
export function text(min: number, max: number) {
  const allowed = `text of ${min} to ${max} characters`
  const printable = /^[^\p{Cc}]*$/u
  return z
    .string({ error: allowed })
    .min(min, { error: allowed })
    .max(max, { error: allowed })
    .regex(printable, { error: allowed })
    .meta({ allowed })
}

/** Text that matches a pattern; `allowed` says so in words. */
export function textLike(pattern: RegExp, allowed: string) {
  return z.string({ error: allowed }).regex(pattern, { error: allowed }).meta({ allowed })
}

/** A whole number. */
export function integer(min: number, max: number) {
  const allowed = `a whole number from ${min} to ${max}`
  return z.int({ error: allowed }).min(min, { error: allowed }).max(max, { error: allowed }).meta({ allowed })
}

/** A TCP port. */
export function port() {
  return integer(1, 65535)
}

/** A block number; blocks are counted in 32 bits. */
export function blockNumber() {
  return integer(0, 4294967295)
}

/** `true` or `false`, unquoted. */
export function flag() {
  const allowed = 'true or false'
  return z.boolean({ error: allowed }).meta({ allowed })
}

/** One of a few words. A problem names the nearest. */
export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z
    .enum(values, { error: (issue) => oneOf(values, issue.input) })
    .meta({ allowed: oneOf(values, undefined) })
}

/** Families that the replaced system knows and this program does not. */
const unsupportedFamilies: ReadonlySet<string> = new Set([
  'simpleassets',
  'neftydrops',
  'neftyblends',
  'neftymarket',
  'neftyquests',
  'launchbagz',
])

/** `one of "a", "b"`, with the word that is nearest to what was found. */
export function oneOf(values: readonly string[], found: unknown): string {
  if (typeof found === 'string' && unsupportedFamilies.has(found)) {
    return `nothing: ${found} is not supported; remove this entry`
  }
  const list = `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  return typeof found === 'string' && values.length > 1
    ? `${list}; the nearest is "${nearestOf(found, values)}"`
    : list
}

/** A list of at most `max` items. */
export function list<T extends z.ZodType>(item: T, max: number, min = 0) {
  const what = min === 0 ? `at most ${max}` : `${min} to ${max}`
  const allowed = `a list of ${what} items, each ${allowedOf(item) ?? 'an object'}`
  return z
    .array(item, { error: allowed })
    .min(min, { error: allowed })
    .max(max, { error: allowed })
    .meta({ allowed })
}

/**
 * An object with exactly these keys. For an unknown key the message is the list of the known ones; the module
 * `problems.ts` turns it into one problem for each key.
 */
export function section<T extends z.ZodRawShape>(shape: T) {
  const keys = Object.keys(shape).join(' ')
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : 'an object { … }'),
  })
}

/** A URL with one of the schemes and, except for unix sockets, a host. */
export function url(schemes: readonly string[], example: string) {
  const allowed = `a URL such as ${example} (${schemes.map((scheme) => `${scheme}://`).join(', ')})`
  return z
    .string({ error: allowed })
    .max(2048, { error: allowed })
    .refine((value) => isUrl(value, schemes), { error: allowed })
    .meta({ allowed })
}

function isUrl(value: string, schemes: readonly string[]): boolean {
  if (value !== value.trim() || !URL.canParse(value)) return false
  const { protocol, hostname, pathname } = new URL(value)
  const scheme = protocol.slice(0, -1)
  if (!schemes.includes(scheme)) return false
  return scheme === 'ws+unix' ? hostname === '' && pathname.length > 1 : hostname !== ''
}

/** Name of an account of the chain. */
export function accountName() {
  return textLike(
    /^[a-z1-5](?:[a-z1-5.]{0,10}[a-z1-5])?$/,
    'an account name: 1 to 12 of a-z, 1-5 and dots, no dot at the ends',
  )
}

/** An address to listen on or a host to connect to. */
export function hostName() {
  return textLike(/^[A-Za-z0-9._:-]{1,253}$/, 'a host name or an IP address')
}

/** An IP address or a range of them. */
export function addressRange() {
  const allowed = 'an IP address or a range such as 10.0.0.0/8'
  return z.string({ error: allowed }).refine(isAddressRange, { error: allowed }).meta({ allowed })
}

/** Whether the text is an IPv4 or IPv6 address, or one with a prefix length. */
export function isAddressRange(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}

/** The text about allowed values that a schema carries, looking through defaults, optionals and transforms. */
export function allowedOf(schema: z.ZodType): string | undefined {
  const own = schema.meta()?.allowed
  if (typeof own === 'string') return own
  const inner = unwrapOnce(schema)
  return inner === schema ? undefined : allowedOf(inner)
}

/** The schema below defaults, optionals and transforms. */
export function unwrap(schema: z.ZodType): z.ZodType {
  const inner = unwrapOnce(schema)
  return inner === schema ? schema : unwrap(inner)
}

function unwrapOnce(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return schema.unwrap() as z.ZodType
  }
  return schema instanceof z.ZodPipe ? (schema.in as z.ZodType) : schema
}
