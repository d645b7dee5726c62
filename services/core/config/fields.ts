import { z } from 'zod'
import { HOST_ALLOWED, isAddressRange, isHost, splitHostAndPort } from './address/index.ts'
import { nearestOf } from './nearest.ts'

/**
 * Every schema below has one text `allowed`, which the documentation and problem messages show. Therefore each builder
 * also passes `allowed` to zod as the error of every check.
 */

/** Zod schema of a text of `min` to `max` characters without control characters. */
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

/** Zod schema of a text that matches a pattern; `allowed` describes the pattern in words. */
export function textLike(pattern: RegExp, allowed: string) {
  return z.string({ error: allowed }).regex(pattern, { error: allowed }).meta({ allowed })
}

/** Zod schema of a whole number. */
export function integer(min: number, max: number) {
  const allowed = `a whole number from ${min} to ${max}`
  return z.int({ error: allowed }).min(min, { error: allowed }).max(max, { error: allowed }).meta({ allowed })
}

const MAX_PORT = 65_535

/** Zod schema of a TCP port. */
export function port() {
  return integer(1, MAX_PORT)
}

/** Zod schema of a block number; the chain uses 32 bits. */
export function blockNumber() {
  return integer(0, 4294967295)
}

/** Zod schema of a JSON boolean. */
export function flag() {
  const allowed = 'true or false'
  return z.boolean({ error: allowed }).meta({ allowed })
}

/** Zod schema of one of several words. The problem message suggests the nearest word. */
export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z
    .enum(values, { error: (issue) => oneOf(values, issue.input) })
    .meta({ allowed: oneOf(values, undefined) })
}

/** Contract families of the replaced system that this program does not support. */
const unsupportedFamilies: ReadonlySet<string> = new Set([
  'simpleassets',
  'neftydrops',
  'neftyblends',
  'neftymarket',
  'neftyquests',
  'launchbagz',
])

/** Describes the allowed words, such as `one of "a", "b"`, and suggests the word nearest to `found`. */
export function oneOf(values: readonly string[], found: unknown): string {
  if (typeof found === 'string' && unsupportedFamilies.has(found)) {
    return `nothing: ${found} is not supported; remove this entry`
  }
  const list = `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  return typeof found === 'string' && values.length > 1
    ? `${list}; the nearest is "${nearestOf(found, values)}"`
    : list
}

/** Zod schema of a list of at most `max` items. */
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
 * Zod schema of an object with exactly these keys. For an unknown key, the zod message is the list of known keys;
 * `problems.ts` turns the message into one problem for each unknown key.
 */
export function section<T extends z.ZodRawShape>(shape: T) {
  const keys = Object.keys(shape).join(' ')
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : 'an object { … }'),
  })
}

/** Zod schema of a URL with one of the schemes and, except for unix sockets, a host. */
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
  const { protocol, hostname, pathname, port: number, hash } = new URL(value)
  const scheme = protocol.slice(0, -1)
  // No server can listen at port 0. The websocket library refuses a URL with a fragment (`#...`).
  const isUsable = number !== '0' && (hash === '' || scheme.startsWith('http'))
  if (!schemes.includes(scheme) || !isUsable) return false
  return scheme === 'ws+unix'
    ? hostname === '' && pathname.length > 1
    : isHost(hostname.replace(/^\[(.*)\]$/, '$1'))
}

/** Zod schema of an account name of the chain. */
export function accountName() {
  return textLike(
    /^[a-z1-5](?:[a-z1-5.]{0,10}[a-z1-5])?$/,
    'an account name: 1 to 12 of a-z, 1-5 and dots, no dot at the ends',
  )
}

/** Zod schema of a host name or IP address. */
export function hostName() {
  return z
    .string({ error: HOST_ALLOWED })
    .refine(isHost, { error: HOST_ALLOWED })
    .meta({ allowed: HOST_ALLOWED })
}

/** Zod schema of a host and its port. */
export function hostAndPort() {
  const allowed = 'a host and its port, such as nginx:8443 or [::1]:8443'
  return z
    .string({ error: allowed })
    .refine((text) => splitHostAndPort(text)?.port !== undefined, { error: allowed })
    .meta({ allowed })
}

/** Zod schema of an IP address or range. */
export function addressRange() {
  const allowed = 'an IP address or a range such as 10.0.0.0/8'
  return z.string({ error: allowed }).refine(isAddressRange, { error: allowed }).meta({ allowed })
}

/** Finds the `allowed` text of a schema, also behind defaults, optionals and transforms. */
export function allowedOf(schema: z.ZodType): string | undefined {
  const own = schema.meta()?.allowed
  if (typeof own === 'string') return own
  const inner = unwrapOnce(schema)
  return inner === schema ? undefined : allowedOf(inner)
}

/** Finds the Zod schema inside defaults, optionals and transforms. */
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
