import { readFileSync, statSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { likelyOf, showFound } from '../../core/config/index.ts'
import type { ConfigProblem } from '../../core/config/index.ts'
import { settingVariables } from '../../core/config/environment/index.ts'
import type { Environment } from '../../core/config/environment/index.ts'
import { containerVariables, namesInVain, operatorStateVariables, otherNames } from './container-variables.ts'
import { variables } from './variables.ts'

/** Content of an `.env`. */
export interface EnvFile {
  readonly values: Readonly<Record<string, string>>
  /** Variables to which lines of the file refer as `$NAME` or `${NAME}`. */
  readonly used: ReadonlySet<string>
  /** Lines that Compose ignores, or that Compose reads differently than an operator expects. */
  readonly problems: readonly ConfigProblem[]
  /** True if the file cannot be read; `problems` then has one entry with the reason. */
  readonly isUnreadable?: true
}

const MAX_FILE_BYTES = 1_048_576
const LINE = /^\s*(?:export\s+)?([^\s=#]+)\s*(=?)\s*([^\n]*)$/
/**
 * Matches a line up to its value. As white space before the value, Compose accepts only spaces and tabs. Other kinds of
 * space and a byte order mark are refused.
 */
const BEFORE_VALUE = /^[^=]*=?\s*/
const OTHER_SPACE = /[^\S\t ]/
const BYTE_ORDER_MARK = '\ufeff'
const NAME = /^[A-Za-z_][\w.-]*$/
const FOREIGN_QUOTES = /^[\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb`\u00b4]/

/** Every variable name that some part of the appliance reads. */
export const knownNames: readonly string[] = [
  ...Object.keys(variables),
  ...Object.keys(containerVariables),
  ...operatorStateVariables.map(({ name }) => name),
  ...settingVariables.flatMap(({ name, aliases }) => [name, ...aliases]),
  ...otherNames,
]

/**
 * Reads an `.env` line by line, as Compose does: removes quotes and comments, and replaces references to variables.
 * @param environment values for `${NAME}` besides the variables of earlier lines. @returns undefined if the file
 * does not exist; null if it cannot be read.
 */
export function readEnvFile(path: string, environment: Environment = {}): EnvFile | null | undefined {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (!facts?.isFile()) return undefined
  if (facts.size > MAX_FILE_BYTES) {
    return unreadable(`${facts.size} bytes`, `at most ${MAX_FILE_BYTES} bytes`)
  }
  try {
    return parseEnvFile(readFileSync(path, 'utf8'), environment)
  } catch {
    return null
  }
}

function unreadable(found: string, allowed: string): EnvFile {
  return {
    values: {},
    used: new Set(),
    problems: [{ file: '.env', path: '', found, allowed }],
    isUnreadable: true,
  }
}

/** Character that Node.js writes in place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/** Parses the text of an `.env`. */
export function parseEnvFile(text: string, environment: Environment): EnvFile {
  // UTF-16 encodes each Latin letter as two bytes, one of them 0.
  if (/\0[^\0]\0/.test(text)) return unreadable('text in UTF-16', 'text in UTF-8: save the file as UTF-8')
  if (/\r[^\r\n]/.test(text))
    return unreadable(
      'lines that end in CR alone',
      "lines that end in LF: convert the file with tr '\\r' '\\n' <.env >.env.unix, then mv .env.unix .env",
    )
  // An object without prototype: `constructor` must not look like a set variable, and `__proto__` may be set.
  const values = Object.create(null) as Record<string, string>
  const used = new Set<string>()
  const problems: ConfigProblem[] = []
  const lines = new Map<string, number>()
  const refuse = (path: string, found: string, allowed: string): void => {
    problems.push({ file: '.env', path, found, allowed })
  }
  const ended = text.split('\n').filter((line) => line.endsWith('\r') && !/^\s*(?:#|$)/.test(line))
  if (ended.length > 0) {
    const names = listNames(ended.map((line) => LINE.exec(line.trim())?.[1] ?? line.trim()))
    refuse(
      '',
      `CR LF at the end of the lines of ${names}`,
      "lines that end in LF: convert the file with sed -i 's/\\r$//' .env",
    )
  }
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .forEach((whole, at) => {
      const line = whole.replace(/\r$/, '')
      if (/^\s*(?:#|$)/.test(line)) return
      const [, name = '', sign = '', rest = ''] = LINE.exec(line) ?? []
      const fault = findLineFault(line, name, sign)
      if (fault !== undefined) {
        const path = name === '' ? `line ${at + 1}` : name.slice(0, 80)
        return refuse(path, `line ${at + 1} (${fault.why})`, fault.allowed)
      }
      const first = lines.get(name)
      if (first !== undefined)
        refuse(
          name,
          `two lines that set this variable, lines ${first} and ${at + 1}`,
          'one line for each name',
        )
      lines.set(name, at + 1)
      const value = valueOf(rest, Object.assign(Object.create(null), values, environment) as Environment)
      if ('text' in value) {
        values[name] = value.text
        for (const each of value.used) used.add(each)
      } else refuse(name, `${showFound([name], rest.trim())} (${value.why})`, value.allowed)
      // Compose has already replaced a reference to a shell variable in the container's environment.
      const isFilled = 'text' in value && (environment[name] ?? '') !== '' && environment[name] !== value.text
      for (const missing of 'text' in value && !isFilled ? value.missing : [])
        refuse(
          name,
          `${showFound([name], rest.trim())} (the variable ${missing} is not set)`,
          'a variable that a line above or the shell sets, or $$ for a dollar sign',
        )
    })
  return { values, used, problems }
}

/** Reason why a line sets no variable. @param sign the equals sign, if there is one. */
function findLineFault(
  line: string,
  name: string,
  sign: string,
): { readonly why: string; readonly allowed: string } | undefined {
  if (sign === '' || !NAME.test(name)) return { why: 'the line sets no variable', allowed: 'NAME=value' }
  return OTHER_SPACE.test(BEFORE_VALUE.exec(line)?.[0] ?? '') || line.includes(BYTE_ORDER_MARK)
    ? {
        why: 'the line contains a byte order mark, or white space that is neither a space nor a tab',
        allowed: 'the line without these characters; type the line again',
      }
    : undefined
}

const MOST_NAMES = 8

/** Text with the first names of a list and the number of further names. */
function listNames(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  return `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/**
 * Result of one line: the value and the variables that the value refers to, or the reason why the line sets nothing.
 */
type LineValue =
  | { readonly text: string; readonly missing: readonly string[]; readonly used: readonly string[] }
  | { readonly why: string; readonly allowed: string }

function valueOf(rest: string, known: Environment): LineValue {
  const text = rest.trim()
  const quote = text[0]
  if (text.includes('\0')) return { why: 'the value contains a zero byte', allowed: 'text' }
  if (text.includes(REPLACEMENT))
    return { why: 'the value contains bytes that are not UTF-8', allowed: 'text in UTF-8' }
  if (quote === '"' || quote === "'") {
    const end = closingQuote(text, quote)
    const after = text.slice(end + 1).trim()
    if (end < 0 || (after !== '' && !after.startsWith('#'))) {
      return {
        why: 'the quotes do not enclose the whole value',
        allowed: 'the value without quotes, or a quote at both ends',
      }
    }
    const inner = text.slice(1, end)
    if (quote === "'")
      return { text: inner.replaceAll(/\\(?:\\|('))/g, unescapeQuote), missing: [], used: [] }
    return fillIn(inner.replaceAll(ESCAPE, unescape), known)
  }
  if (FOREIGN_QUOTES.test(text)) {
    return {
      why: 'Compose takes these quotes for characters of the value',
      allowed: 'the value without quotes, or within " or \'',
    }
  }
  if (text.startsWith('#'))
    return {
      why: 'Compose takes the text from # on for the value',
      allowed: 'nothing after the equals sign, or the value in quotes',
    }
  // Only a space before the number sign begins a comment, a tab does not.
  return fillIn(text.replace(/ #.*$/, '').trim(), known)
}

/** Unescapes a quote. Within single quotes, a backslash is literal except before a quote. */
const unescapeQuote = (all: string, quote: string | undefined): string => quote ?? all

/** Escape sequences in double quotes; other backslashes are literal. */
const ESCAPE = /\\(?:([abfnrtv"\\$])|0([0-3][0-7]{2}))/g
const escapes: Readonly<Record<string, string>> = {
  ...{ a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '"': '"', '\\': '\\' },
  // In double quotes, an escaped dollar sign is literal: `$$` begins no reference.
  $: '$$',
}
const OCTAL = 8

function unescape(all: string, letter: string | undefined, octal: string | undefined): string {
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, OCTAL))
  return escapes[letter ?? ''] ?? all
}

const REFERENCE = /\$\$|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-+?])((?:[^{}]|\{[^{}]*\})*))?\}|(\{))/g

/**
 * Text in which `$NAME`, `${NAME}`, `${NAME:-otherwise}` and `${NAME:+instead}` are filled in, as Compose does; `$$` is
 * a dollar sign.
 */
function fillIn(text: string, known: Environment): LineValue {
  const missing: string[] = []
  const used: string[] = []
  const broken: string[] = []
  const fill = (part: string): string =>
    part.replaceAll(REFERENCE, (...groups: (string | undefined)[]) => {
      const [all = '', plain, braced, sign = '', word = '', brace] = groups
      const name = plain ?? braced
      if (brace !== undefined) broken.push(brace)
      if (name === undefined) return all === '$$' ? '$' : all
      used.push(name)
      const found = known[name]
      const isThere = found !== undefined && !(sign.startsWith(':') && found === '')
      if (sign.endsWith('+')) return isThere ? fill(word) : ''
      if (isThere) return found
      if (!sign.endsWith('-')) missing.push(name)
      return sign.endsWith('-') ? fill(word) : ''
    })
  const filled = fill(text)
  if (broken.length === 0) return { text: filled, missing, used }
  return {
    why: '${ does not begin a reference to a variable',
    allowed: '${NAME} with its closing brace, or $$ for a dollar sign',
  }
}

function closingQuote(text: string, quote: string): number {
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at
  }
  return -1
}

/**
 * A problem for each variable name that nothing reads.
 * @param others names that compose files, the operator's JSON files or other lines of `.env` use. @param mayBeRead
 * whether a compose file could not be read, and may use further names: then only misspelt names are problems.
 */
export function findUnknownNames(
  names: readonly string[],
  others: ReadonlySet<string>,
  mayBeRead = false,
): ConfigProblem[] {
  return names
    .filter((name) => !knownNames.includes(name) && !others.has(name))
    .filter((name) => !mayBeRead || namesAround(name.toUpperCase()).length > 0)
    .map((name) => ({
      file: 'environment',
      path: name,
      found: 'an unknown variable',
      allowed: describeKnown(name),
    }))
}

/** Prefixes of names that belong to the appliance, in `.env` and in the environment of the host. */
const OURS = /^(?:CHAIN|RATE_LIMIT|TLS|ACME|POSTGRES|REDIS|GRAPHQL)_/
/** Maximum edit distance between a misspelt variable name and the name that is suggested for it. */
const MISSPELT_EDITS = 2

/**
 * The environment variables that an operator sets for the appliance: names with its prefixes, and names similar to a
 * known name. The environment may also contain variables of the host.
 */
export function namesMeantForUs(environment: Environment): string[] {
  return Object.keys(environment).filter(
    (name) =>
      name !== 'HOSTNAME' &&
      (OURS.test(name) || knownNames.some((known) => distance(name, known) <= MISSPELT_EDITS)),
  )
}

/** Environment variables that a container has even without an `.env`, such as the variables of the Dockerfile. */
const OF_CONTAINER =
  /^(?:DEMO_CHAIN|PATH|HOME|HOSTNAME|TERM|PWD|OLDPWD|SHLVL|_|LANG|LC_\w+|TZ|container|NODE_\w+|PRONGHORN_MODE|YARN_VERSION|SSL_CERT_\w+|(?:https?|ftp|all|no)_proxy)$/i

/** Names of the variables in a container's environment that come from `.env`. */
export function namesOfContainer(environment: Environment): string[] {
  return Object.keys(environment).filter((name) => !OF_CONTAINER.test(name))
}

/**
 * Minimum length of an unknown name for a suggestion of a longer variable that begins or ends with this name. Shorter
 * names such as PATH and PORT end many names by chance.
 */
const LEAST_ENDING = 6
const MOST_SHOWN = 4

/** Sentence with the known names that are similar to an unknown name. */
function describeKnown(name: string): string {
  if (Object.hasOwn(namesInVain, name)) return namesInVain[name]!
  const upper = name.toUpperCase().replaceAll(/[-.]/g, '_')
  const meant = knownNames.includes(upper) ? [upper] : namesAround(upper)
  return meant.length > 0
    ? `the nearest known variable is ${meant.slice(0, MOST_SHOWN).join(' or ')}`
    : 'a variable of docs/settings.md; no known name is similar'
}

function namesAround(upper: string): readonly string[] {
  const longer = knownNames.filter((known) => known.endsWith(`_${upper}`) || known.startsWith(`${upper}_`))
  if (longer.length > 0 && upper.length >= LEAST_ENDING) return longer
  const likely = likelyOf(upper, knownNames)
  return likely === undefined ? [] : [likely]
}
